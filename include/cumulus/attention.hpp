// SPDX-License-Identifier: MIT
//
// The door to attention: exact, over the best blocks of a cache, and linear in the number of tokens.
//
//     attention, multi_head_attention   exact, with bias, mask, window, sink and cap; results merge
//     scaled_rows                       a cache in 8 bits, with scales
//     block_sparse_attention            over the blocks that their scores choose, with a bound on its error
//     linear_attention                  the softmax truncated at an order; linear_attention_state a token at a time
//     attention_vjp, linear_attention_vjp   gradients
//     residual_sums                     linear attention over what a selection left out
//     validate                          whether a cache holds a NaN
//     presets::                         published methods: moba, quest, hils, cobs, spla; going_linear, based, sata, power,
//                                       limit_form, taylor_shift, performer, delta_rule_state
#pragma once

#include <cumulus/attention/attention_options.hpp>
#include <cumulus/attention/attention_result.hpp>
#include <cumulus/attention/attention_vjp.hpp>
#include <cumulus/attention/block_sparse.hpp>
#include <cumulus/attention/block_sparse_options.hpp>
#include <cumulus/attention/delta_rule.hpp>
#include <cumulus/attention/dense.hpp>
#include <cumulus/attention/linear.hpp>
#include <cumulus/attention/linear_options.hpp>
#include <cumulus/attention/linear_presets.hpp>
#include <cumulus/attention/linear_state.hpp>
#include <cumulus/attention/linear_status.hpp>
#include <cumulus/attention/performer.hpp>
#include <cumulus/attention/residual_sums.hpp>
#include <cumulus/attention/sparse_presets.hpp>
#include <cumulus/attention/validate_cache.hpp>
#include <cumulus/core/isa.hpp>
#include <cumulus/core/scaled_rows.hpp>
#include <cumulus/core/serialise.hpp>
#include <cumulus/core/version.hpp>
