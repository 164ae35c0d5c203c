// SPDX-License-Identifier: MIT
#include "support/shared_options.hpp"

#include "support/draw.hpp"

namespace support {

void number_file(options& o, source& numbers, const std::string& what) {
  o.file("FILE", numbers.path, what + " to read; - is standard input");
  o.text("--column", numbers.column, "NAME|N", "Column of a table, by name or number from 1");
  needs_file(o, "--column", numbers.column, numbers);
}

void weights_file(options& o, source& weights, const source& numbers, const std::string& help,
                  const std::string& what) {
  o.file("--weights", weights.path, help + ", each 0 or more");
  o.text("--weights-column", weights.column, "NAME|N", "Column of the table of weights");
  o.check("--weights-column", [&weights] {
    const bool lost = !weights.column.empty() && weights.path.empty();
    return std::string(lost ? "needs --weights FILE" : "");
  });
  o.check("--weights", [&weights, &numbers, what] {
    const bool twice = numbers.path == "-" && weights.path == "-";
    return twice ? "standard input holds the " + what + " already" : "";
  });
}

void needs_file(options& o, const std::string& name, const std::string& value,
                const source& numbers) {
  o.check(name, [&value, &numbers] {
    return std::string(!value.empty() && numbers.path.empty() ? "needs a FILE" : "");
  });
}

void plot_file(options& o, std::string& path, const std::string& what) {
  o.file("--plot", path, "Also draw " + what + " into a .svg or .png, by gnuplot");
  o.check("--plot", [&path] {
    if (!path.empty()) plot_terminal(path);  // refuses the name before any work
    return std::string();
  });
}

void attention_files(options& o, head_files& files) {
  o.file("--q", files.q, "Queries, .npy");
  o.file("--k", files.k, "Keys, .npy");
  o.file("--v", files.v, "Values, .npy");
  o.flag("--causal", files.causal, "A query sees no later key; so it is without files anyway");
  o.check("--q, --k and --v", [&files] {
    const bool q = files.q.empty(), k = files.k.empty(), v = files.v.empty();
    return std::string(q == k && k == v ? "" : "go together");
  });
}

}  // namespace support
