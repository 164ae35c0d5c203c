// SPDX-License-Identifier: MIT
//
// The door to attention: exact, block-sparse and linear.
//
//     attention, multi_head_attention    exact; merge() joins split ranges of keys
//     block_sparse_attention             over the best blocks of a cache, the rest left out or by its summary
//     linear_attention                   softmax truncated at an order, at once; linear_attention_state<T>: token by token
//     attention_vjp, linear_attention_vjp    gradients
//     presets::moba(), quest(), hils(), cobs(), spla(); going_linear(), based(), sata(), ...    published methods by name
//     performer_attention, taylor_shift, delta_rule_state, residual_sums    other states
//     validate                           whether a cache holds numbers only
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
#include <cumulus/attention/moba.hpp>
#include <cumulus/attention/random_features.hpp>
#include <cumulus/attention/residual_sums.hpp>
#include <cumulus/attention/sparse_presets.hpp>
#include <cumulus/attention/validate_cache.hpp>
#include <cumulus/core/isa.hpp>
#include <cumulus/core/serialise.hpp>
#include <cumulus/core/version.hpp>
