// SPDX-License-Identifier: MIT
//
// What a translation unit of the test does with cumulus, over raw memory alone. unit.cpp is compiled twice, with different -m
// flags: Eigen's own alignment differs between such units, so its matrices must not pass from one to the other.
#pragma once

#include <cstddef>
#include <vector>

struct unit {
  std::vector<std::size_t> (*layout)();  ///< sizes, alignments and offsets of public types
  double (*logsumexp)(const double* x, std::ptrdiff_t n);
  void (*softmax)(const float* x, float* out, std::ptrdiff_t n);
  void (*softmax_of_rows)(const float* x, float* out, std::ptrdiff_t rows, std::ptrdiff_t cols);

  // A cumulus::central_moments<double, 4> where `moments` points; start makes it.
  void (*start)(void* moments);
  void (*add)(void* moments, const double* x, std::ptrdiff_t n);
  void (*merge)(void* moments, const void* other);
  double (*moment)(const void* moments, int order);

  // A cumulus::signed_log<double> where `result` points.
  void (*logsumexp_signed)(void* result, const double* x, const double* w, std::ptrdiff_t n);
  double (*value)(const void* result);
};

extern const unit plain_unit, native_unit;
