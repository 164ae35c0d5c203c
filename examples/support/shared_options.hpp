// SPDX-License-Identifier: MIT
//
// Options that several programs have, declared once.
#pragma once

#include <string>

#include "support/options.hpp"
#include "support/source.hpp"

namespace support {

/// FILE and --column, `what` to read.
void number_file(options& o, source& numbers, const std::string& what);

/// --weights and --weights-column, of the `numbers`, of which there are `what`.
void weights_file(options& o, source& weights, const source& numbers, const std::string& help,
                  const std::string& what);

/// The option `name`, whose value is `value`, is refused without a FILE.
void needs_file(options& o, const std::string& name, const std::string& value,
                const source& numbers);

/// --plot of `what`.
void plot_file(options& o, std::string& path, const std::string& what);

/// The .npy files of an attention head. Without them a program takes heads of its own, causal ones.
struct head_files {
  std::string q = {}, k = {}, v = {};
  bool causal = false;

  [[nodiscard]] bool given() const { return !q.empty(); }
  [[nodiscard]] bool is_causal() const { return causal || !given(); }
};

/// --q, --k, --v and --causal.
void attention_files(options& o, head_files& files);

}  // namespace support
