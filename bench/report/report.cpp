// SPDX-License-Identifier: MIT
//
// report DIRECTORY FILE.json...: what Google Benchmark wrote, as DIRECTORY/report.md (the ratios that matter, each within one
// run; then every time) and DIRECTORY/*.plot for gnuplot. Medians where a benchmark was repeated; processor time.
#include "../../examples/support/plot_style.hpp"

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// The n of 4096 rows of 1024: all of them, which is no length of a vector here.
constexpr std::int64_t batch = 4096 * 1024;

/// function/who/scalar/detail.../n:... of one run (the file).
struct place {
  std::string run, function, who, scalar, detail;
  std::int64_t n = 0;
  auto operator<=>(const place&) const = default;
};

struct measured {
  double ns = 0;  ///< per element
  std::optional<double> error{};
};

using results = std::map<place, measured>;

struct cache {
  int level = 0;
  std::int64_t bytes = 0;
};

struct run_context {
  std::string run, text;
  std::vector<cache> caches{};  ///< of data
};

std::string number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Not a vector or a batch: nothing.
std::optional<std::pair<place, double>> place_of(const std::string& run, const std::string& name) {
  place p;
  p.run = run;
  double elements = 1;
  std::istringstream parts(name);
  std::string part;
  std::int64_t rows = 0;
  for (int i = 0; std::getline(parts, part, '/'); ++i) {
    if (i == 0) {
      p.function = part;
    } else if (i == 1) {
      p.who = part;
    } else if (i == 2) {
      p.scalar = part;
    } else if (part.starts_with("rows:")) {
      rows = std::stoll(part.substr(5));
      elements *= static_cast<double>(rows);
    } else if (part.starts_with("n:") || (part.starts_with("m:") && p.n == 0)) {
      p.n = std::stoll(part.substr(2));
      elements *= static_cast<double>(p.n);
    } else {
      p.detail += (p.detail.empty() ? "" : "/") + part;
    }
  }
  if (p.n == 0) return std::nullopt;
  if (rows != 0) p.n *= rows;
  return std::pair{p, elements};
}

void read(const std::string& file, results& all, std::vector<run_context>& contexts) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  std::ostringstream content;
  content << in.rdbuf();
  std::string content_text = content.str();
  // Google Benchmark writes what JSON has no number for, such as the spread of errors that are all 0.
  for (const std::string word : {": NaN", ": -NaN", ": Infinity", ": -Infinity"}) {
    for (auto at = content_text.find(word); at != std::string::npos;
         at = content_text.find(word, at))
      content_text.replace(at, word.size(), ": null");
  }
  const nlohmann::json json = nlohmann::json::parse(content_text);
  const auto& context = json.at("context");
  const auto text = [&](const char* key) {
    return context.contains(key) && context.at(key).is_string() ? context.at(key).get<std::string>()
                                                                : std::string("unknown");
  };
  const std::string isa = text("isa") == "unknown" ? std::string("best") : text("isa");
  const std::string name = std::filesystem::path(file).stem().string();
  contexts.push_back({name, text("cpu") + "; " + text("compiler") + " " + text("flags") +
                                "; commit " + text("commit") + "; instruction set " + isa + "; " +
                                text("date")});
  if (context.contains("caches")) {
    for (const auto& c : context.at("caches")) {
      if (c.value("type", "") != "Instruction")
        contexts.back().caches.push_back({c.value("level", 0), c.value("size", std::int64_t(0))});
    }
  }
  for (const auto& b : json.at("benchmarks")) {
    if (b.at("run_type") == "aggregate" && b.at("aggregate_name") != "median") continue;
    if (b.value("error_occurred", false)) continue;
    if (const auto label = b.at("run_name").get<std::string>(); label.starts_with("floor/fma/"))
      contexts.back().text += "; FMA " + label.substr(10) + " " +
                              number("%.0f", 2e-9 * b.at("items_per_second").get<double>()) +
                              " GFLOP/s";
    const auto found = place_of(isa + " " + name, b.at("run_name").get<std::string>());
    if (!found) continue;
    const auto& [p, elements] = *found;
    const std::string unit = b.value("time_unit", "ns");
    const double factor = unit == "ms" ? 1e6 : unit == "us" ? 1e3 : unit == "s" ? 1e9 : 1;
    measured m{.ns = factor * b.at("cpu_time").get<double>() / elements};
    for (const char* key : {"rel_error", "error"}) {
      if (b.contains(key) && b.at(key).is_number()) m.error = b.at(key);
    }
    all[p] = m;
  }
}

// What is compared

/// A contender: `who` is its name, or how it begins and ends ("Eigen-*-native").
struct contender {
  std::string function, who, detail;
};

struct comparison {
  std::string scalar;
  contender ours, other;
  std::vector<std::int64_t> sizes;  ///< all that both have, where empty
  double asked = 0;                 ///< 0: nothing is asked
  bool as_time =
      false;  ///< the ratio is our time over the other's, at most `asked`; else its over ours, at least
  std::string isa = "best";
};

constexpr std::int64_t k1 = 1024, k4 = 4096, k16 = 16384, k64 = 65536, m1 = 1 << 20, m16 = 1 << 24;

std::vector<comparison> comparisons() {
  std::vector<comparison> c;
  const auto faster = [&](const std::string& function, const std::string& scalar,
                          const std::string& who, std::vector<std::int64_t> sizes, double asked) {
    const std::string detail = function == "moments" ? "order:4" : "";
    c.push_back({scalar, {function, "cumulus", detail}, {function, who, detail}, sizes, asked});
  };
  const auto floor = [&](const std::string& function, const std::string& scalar,
                         const std::string& who, std::vector<std::int64_t> sizes, double asked) {
    const std::string detail = function == "moments" ? "order:4" : "";
    c.push_back({scalar, {function, "cumulus", detail}, {"floor", who, ""}, sizes, asked, true});
  };
  faster("softmax", "float", "Eigen-*-native", {k1}, 1.4);
  faster("softmax", "float", "Eigen-*-native", {k4, k16, k64, m1}, 1.7);
  faster("softmax", "float", "Eigen-*-native", {m16}, 1.45);
  faster("softmax", "float", "oneDNN-*", {k4, k16, k64, m1}, 2.5);
  faster("softmax", "float", "oneDNN-*", {batch}, 2.3);
  faster("softmax", "float", "oneDNN-*", {m16}, 1.9);
  floor("softmax", "float", "memcpy", {batch}, 1.3);
  faster("logsumexp", "float", "Eigen-*-native", {k1}, 1.4);
  faster("logsumexp", "float", "Eigen-*-native", {k4, k16, k64, m1, m16}, 1.7);
  floor("logsumexp", "float", "sum", {m16}, 1.25);
  floor("logsumexp", "double", "sum", {m16}, 1.5);
  faster("log_softmax", "float", "oneDNN-*", {k1, k4, k16, k64}, 2.2);
  faster("log_softmax", "float", "oneDNN-*", {batch, m1, m16}, 1.6);
  faster("softmax", "double", "SLEEF-*", {256, k1, k4, k16, k64, m1}, 1.8);
  faster("logsumexp", "double", "SLEEF-*", {k1, k4, k16, k64, m1, m16}, 2.3);
  for (const char* scalar : {"float", "double"}) {
    floor("moments", scalar, "sum", {m1, m16}, 1.25);
    faster("moments", scalar, "Eigen-*-native", {m1}, 3.5);
    faster("moments", scalar, "Boost.Math-*", {m1}, 40);
  }
  for (const char* scalar : {"float", "double"}) {
    c.push_back({scalar,
                 {"softmax_series", "cumulus", "order:4"},
                 {"softmax_series", "exact", ""},
                 {k4},
                 0.85,
                 true});
  }
  for (const char* function : {"logsumexp", "softmax", "log_softmax"}) {
    for (const char* scalar : {"float", "double"}) {
      for (const char* kind : {"wide", "ramp", "spiked"}) {
        c.push_back(
            {scalar, {function, "cumulus", kind}, {function, "cumulus", ""}, {}, 1.4, true});
      }
    }
  }
  for (const char* function : {"logsumexp", "softmax", "log_softmax"}) {
    for (const char* scalar : {"float", "double"}) {
      c.push_back({scalar,
                   {function, "cumulus", ""},
                   {function, "Eigen-*-avx2", ""},
                   {k1, k4, k16, k64, m1, m16, batch},
                   1.2,
                   false,
                   "avx2"});
    }
  }
  faster("softmax", "float", "XNNPACK-*", {}, 0);
  faster("logsumexp", "float", "Highway-*", {}, 0);
  faster("softmax", "float", "Highway-*", {}, 0);
  faster("logsumexp", "double", "Boost.Math-*", {}, 0);
  faster("moments", "double", "Boost.Accumulators-*", {}, 0);
  return c;
}

bool fits(const std::string& pattern, const std::string& name) {
  const auto star = pattern.find('*');
  if (star == std::string::npos) return pattern == name;
  const std::string head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

std::string size_text(std::int64_t n) {
  if (n == batch) return "4096 × 1024";
  if (n >= m1) return std::to_string(n / m1) + "M";
  return std::to_string(n);
}

std::string error_text(std::optional<double> e) { return e ? number("%.1e", *e) : "–"; }

void raise_to(std::optional<double>& largest, std::optional<double> e) {
  if (e && (!largest || !(*e <= *largest))) largest = e;
}

/// One row of the table, or nothing where the results hold no pair.
std::optional<std::string> row(const comparison& c, const results& all) {
  std::string ratios, name;
  double worst = 0;
  std::optional<double> our_error, other_error;
  for (const auto& [p, m] : all) {
    if (!p.run.starts_with(c.isa + " ") || p.function != c.ours.function || p.who != c.ours.who ||
        p.scalar != c.scalar || p.detail != c.ours.detail)
      continue;
    if (!c.sizes.empty() && std::find(c.sizes.begin(), c.sizes.end(), p.n) == c.sizes.end())
      continue;
    for (const auto& [q, other] : all) {
      if (q.run != p.run || q.n != p.n || q.function != c.other.function || q.scalar != p.scalar ||
          q.detail != c.other.detail || !fits(c.other.who, q.who))
        continue;
      const double ratio = c.as_time ? m.ns / other.ns : other.ns / m.ns;
      const bool first = ratios.empty();
      if (first || (c.as_time ? ratio > worst : ratio < worst)) worst = ratio;
      ratios += (first ? "" : ", ") + size_text(p.n) + ": " + number("%.2f", ratio);
      name = q.who;
      raise_to(our_error, m.error);
      raise_to(other_error, other.error);
    }
  }
  if (ratios.empty()) return std::nullopt;
  std::string kernel = c.ours.function + " " + c.scalar;
  if (!c.ours.detail.empty()) kernel += ", " + c.ours.detail;
  if (c.isa != "best") kernel += ", " + c.isa + " forced";
  std::string against = c.other.function == "floor" ? "floor: " + name : name;
  if (c.other.who == "cumulus") against = "itself on N(0, 3)";
  if (c.other.who == "exact") against = "our exact softmax";
  std::string asked = "–", verdict;
  if (c.asked != 0) {
    asked = (c.as_time ? "≤ " : "≥ ") + number("%.2f", c.asked);
    verdict = (c.as_time ? worst <= c.asked : worst >= c.asked) ? "yes" : "**no**";
  }
  return "| " + kernel + " | " + against + " | " + (c.as_time ? "its time × " : "times as fast ") +
         ratios + " | " + asked + " | " + verdict + " | " + error_text(our_error) + " / " +
         error_text(other_error) + " |\n";
}

/// Of cumulus, on every input and path that was run.
struct error_bound {
  const char* function;
  const char* scalar;
  std::int64_t n;  ///< 0: every size
  double asked;
};
constexpr error_bound error_bounds[] = {{"softmax", "float", 0, 4 * 0x1p-23},
                                        {"softmax", "double", 0, 4 * 0x1p-52},
                                        {"softmax", "float", m16, 1e-6}};

std::string row(const error_bound& b, const results& all) {
  std::optional<double> largest;
  for (const auto& [p, m] : all) {
    if (p.who == "cumulus" && p.function == b.function && p.scalar == b.scalar &&
        (b.n == 0 || p.n == b.n))
      raise_to(largest, m.error);
  }
  if (!largest) return {};
  return std::string("| ") + b.function + " " + b.scalar +
         (b.n == 0 ? ", every input" : ", n = " + size_text(b.n)) + " | " + error_text(largest) +
         " | ≤ " + number("%.1e", b.asked) + " | " + (*largest <= b.asked ? "yes" : "**no**") +
         " |\n";
}

// Every time

/// A table or plot: all contenders for one function and scalar in one run.
struct group {
  std::string run, function, scalar, detail;
  auto operator<=>(const group&) const = default;
};

std::string table(const group& g, const results& all) {
  std::map<std::string, std::map<std::int64_t, measured>> rows;
  std::set<std::int64_t> sizes;
  for (const auto& [p, m] : all) {
    const bool floor = p.function == "floor";
    if (p.run != g.run || p.scalar != g.scalar || (!floor && p.function != g.function)) continue;
    if (!floor && !g.detail.empty() && p.detail != g.detail) continue;
    const std::string who =
        floor ? "floor: " + p.who : p.who + (p.detail == g.detail ? "" : ", " + p.detail);
    rows[who][p.n] = m;
    sizes.insert(p.n);
  }
  std::string out = "| |", rule = "|---|";
  const auto add_cell = [&out](const std::string& text) { out.append(" ").append(text) += " |"; };
  for (const auto n : sizes) add_cell(size_text(n)), rule += "---|";
  out += " largest error |\n" + rule + "---|\n";
  for (const auto& [who, cells] : rows) {
    out += '|';
    add_cell(who);
    std::optional<double> error;
    for (const auto n : sizes) {
      const auto cell = cells.find(n);
      if (cell == cells.end()) {
        out += " |";
        continue;
      }
      add_cell(number("%.3f", cell->second.ns));
      raise_to(error, cell->second.error);
    }
    add_cell(error_text(error));
    out += '\n';
  }
  return out;
}

/// gnuplot's axes of every plot here: ns an element against n.
constexpr const char* plot_axes =
    R"(set logscale x 2
set logscale y 10
set xtics ('64' 64, '1 K' 1024, '16 K' 16384, '256 K' 262144, '4 M' 4194304)
set xrange [48:22369621]
set xlabel 'n'
set key invert
)";

/// ns by n of each contender of a group, and of the floors.
using curves = std::map<std::string, std::map<std::int64_t, double>>;

curves curves_of(const group& g, const results& all) {
  curves lines;
  for (const auto& [p, m] : all) {
    const bool floor = p.function == "floor";
    if (p.run != g.run || p.scalar != g.scalar || p.n == batch) continue;
    if (floor ? !p.detail.empty() : p.function != g.function || p.detail != g.detail) continue;
    lines[(floor ? "floor: " : "") + p.who][p.n] = m.ns;
  }
  return lines;
}

/// Who is drawn, from below: the floors, the peers by name, cumulus.
std::vector<std::string> drawn(const std::set<std::string>& names) {
  std::vector<std::string> order(names.begin(), names.end());
  const auto height = [](const std::string& who) {
    return who == "cumulus" ? 2 : who.starts_with("floor") ? 0 : 1;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto& one, const auto& other) { return height(one) < height(other); });
  return order;
}

/// gnuplot's `plot` of `lines`, its data before it. All of `order` are in the legend, those without a line here too.
std::string plot_command(const curves& lines, const std::vector<std::string>& order,
                         const std::string& block) {
  std::string data, commands;
  std::size_t colour = 0;
  for (const std::string& who : order) {
    std::string name = "NaN";
    if (const auto line = lines.find(who); line != lines.end()) {
      name = "$" + block + std::to_string(colour) + (who.starts_with("floor") ? who.substr(7) : "");
      data += name + " << END\n";
      for (const auto& [n, ns] : line->second)
        data += std::to_string(n) + ' ' + number("%g", ns) + '\n';
      data += "END\n";
    }
    std::string style = "lw 2 lc rgb '";
    if (who == "cumulus") {
      style = "lw 4 lc rgb '" + support::plot_colour(1) + "'";
    } else if (who.starts_with("floor")) {
      style += support::plot_grey + std::string(who == "floor: sum" ? "' dt (3,4)" : "' dt (8,5)");
    } else {
      style += support::plot_colour(colour == 0 ? 0 : colour + 1) + "'";
      ++colour;
    }
    commands += (commands.empty() ? "plot " : ", \\\n     ") + name + " with lines " + style +
                " title '" + who + "'";
  }
  return data + commands + '\n';
}

std::string plot_head(const std::string& svg) {
  return std::string("set terminal ") + support::svg_terminal + "\nset output '" + svg + "'\n" +
         support::plot_style() + plot_axes;
}

std::string plot(const group& g, const results& all, const std::string& svg) {
  const curves lines = curves_of(g, all);
  std::set<std::string> names;
  for (const auto& [who, points] : lines) names.insert(who);
  return plot_head(svg) + "set ylabel 'ns an element'\nset title '" + g.function + ", " + g.scalar +
         (g.detail.empty() ? "" : ", ") + g.detail + "'\nset key outside right\n" +
         plot_command(lines, drawn(names), "line");
}

/// The picture of softmax for the documentation: float and double side by side, with some of the peers and memcpy. Dotted
/// lines are where x and the result fill a cache. Nothing where softmax was not run.
std::string time_plot(const results& all, const std::vector<cache>& caches,
                      const std::string& svg) {
  constexpr const char* contenders[] = {"cumulus", "Eigen-*-native", "oneDNN-*", "SLEEF-*",
                                        "floor: memcpy"};
  std::vector<std::pair<std::string, curves>> panels;
  std::set<std::string> names;
  double least = 1, most = 1;
  for (const char* const scalar : {"float", "double"}) {
    curves chosen;
    for (const auto& [who, points] :
         curves_of({"best softmax_bench", "softmax", scalar, ""}, all)) {
      const auto is_it = [&name = who](const char* pattern) { return fits(pattern, name); };
      if (std::none_of(std::begin(contenders), std::end(contenders), is_it)) continue;
      const std::string shown = who.substr(0, who.find('-'));  // no version
      names.insert(shown);
      chosen[shown] = points;
      for (const auto& [n, ns] : points) {
        least = std::min(least, ns);
        most = std::max(most, ns);
      }
    }
    if (chosen.contains("cumulus")) panels.emplace_back(scalar, chosen);
  }
  if (panels.empty()) return {};
  const std::string grey = std::string(" rgb '") + support::plot_grey + "'";
  std::string script = plot_head(svg) + "set multiplot\nset yrange [" +
                       number("%.3g", least / 1.3) + ":" + number("%.3g", most * 1.3) +
                       "]\nset ytics (0.03, 0.1, 0.3, 1, 3, 10, 30)\n";
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const auto& [scalar, lines] = panels[i];
    script += support::plot_panel(i, panels.size(), "ns an element", 0.23);
    for (const cache& c : caches) {
      const std::string at = std::to_string(c.bytes / (scalar == "float" ? 8 : 16)),
                        tag = std::to_string(10 + c.level);
      script += "set arrow " + tag + " from " + at + ", graph 0 to " + at +
                ", graph 1 nohead lw 1 dt (1,5) lc" + grey + "\nset label " + tag + " ' L" +
                std::to_string(c.level) + "' at " + at + ", graph 0.97 textcolor" + grey + "\n";
    }
    script += "set title 'softmax, " + scalar + "'\n" + plot_command(lines, drawn(names), scalar);
  }
  return script + "unset multiplot\n";
}

int report(const std::string& directory, const std::vector<std::string>& files) {
  results all;
  std::vector<run_context> contexts;
  for (const std::string& file : files) read(file, all, contexts);

  std::ofstream out(directory + "/report.md");
  out << "One thread, processor time, medians of interleaved repetitions; every ratio within one "
         "run. "
         "cumulus is compiled as its run says, the peers for the machine.\n\n";
  for (const run_context& c : contexts) out << "- " << c.run << ": " << c.text << '\n';
  out << "\n## Ratios\n\n| kernel | against | by n | asked | met | largest error, ours / theirs |\n"
         "|---|---|---|---|---|---|\n";
  for (const comparison& c : comparisons()) out << row(c, all).value_or("");

  out << "\n## Errors, relative\n\n| kernel | largest | asked | met |\n|---|---|---|---|\n";
  for (const error_bound& b : error_bounds) out << row(b, all);

  std::set<group> groups;
  for (const auto& [p, m] : all) {
    if (p.who == "cumulus" && (p.detail.empty() || p.detail == "order:4"))
      groups.insert({p.run, p.function, p.scalar, p.detail});
  }
  for (const group& g : groups) {
    const bool best = g.run.starts_with("best ");
    out << "\n## " << g.function << ", " << g.scalar << (g.detail.empty() ? "" : ", ") << g.detail
        << (best ? "" : ", " + g.run.substr(0, g.run.find(' ')) + " forced")
        << ": ns per element\n\n";
    if (best) {
      const std::string stem = g.function + "_" + g.scalar;
      std::ofstream(directory + "/" + stem + ".plot")
          << plot(g, all, directory + "/" + stem + ".svg");
      out << "![Time per element against n](" << stem << ".svg)\n\n";
    }
    out << table(g, all);
  }
  if (const std::string script = time_plot(all, contexts.front().caches, directory + "/time.svg");
      !script.empty())
    std::ofstream(directory + "/time.plot") << script;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + directory + "/report.md");
  std::cout << directory << "/report.md\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: report DIRECTORY FILE.json...\n";
    return 2;
  }
  try {
    return report(argv[1], std::vector<std::string>(argv + 2, argv + argc));
  } catch (const std::exception& e) {
    std::cerr << "report: " << e.what() << '\n';
    return 1;
  }
}
