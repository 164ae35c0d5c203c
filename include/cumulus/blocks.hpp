// SPDX-License-Identifier: MIT
//
// The door to blocks: what each block of a cache of keys holds of a query's attention, without reading the keys.
//
//     keys -> block_summaries -> block_scores -> select_blocks -> block_sparse_attention
//
//     block_summary_options   the sizes of a cache, and what is kept of each block
//     block_summaries<T>      the summaries, token by token
//     block_scores            how much each block holds, by a formula, within an interval that is certain
//     exact_block_scores      the same from the keys themselves
//     group_scores            one score for the heads that share keys
//     select_blocks           the blocks to read
//     certified_top           the k best for certain, reading only the keys that decide
#pragma once

#include <cumulus/blocks/block_score.hpp>
#include <cumulus/blocks/block_scores.hpp>
#include <cumulus/blocks/block_summaries.hpp>
#include <cumulus/blocks/block_summary_options.hpp>
#include <cumulus/blocks/certified_top.hpp>
#include <cumulus/blocks/exact_block_scores.hpp>
#include <cumulus/blocks/group_scores.hpp>
#include <cumulus/blocks/select_blocks.hpp>
#include <cumulus/core/isa.hpp>
#include <cumulus/core/serialise.hpp>
#include <cumulus/core/version.hpp>
