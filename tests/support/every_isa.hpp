// SPDX-License-Identifier: MIT
//
// A check on every instruction set that the machine has.
#pragma once

#include <cumulus/core/isa.hpp>

/// Calls f(name of the set) on each; the set of before is in use afterwards.
template <class Function>
void on_every_isa(Function f) {
  const cumulus::isa before = cumulus::active_isa();
  for (const cumulus::isa set :
       {cumulus::isa::baseline, cumulus::isa::avx2, cumulus::isa::avx512}) {
    if (cumulus::use_isa(set) == set) f(cumulus::name_of(set));
  }
  cumulus::use_isa(before);
}
