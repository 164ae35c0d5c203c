// SPDX-License-Identifier: MIT
#include "support/options.hpp"

#include <cumulus/exact.hpp>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "support/input_error.hpp"
#include "support/parse_number.hpp"
#include "support/print.hpp"

namespace support {

namespace {

using texts = std::vector<std::string>;

/// Shows an option's type as it was given, without what CLI11 adds to it.
struct plain_formatter : CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? type : " " + type;
  }
};

/// The items of all `given`, each a list with commas.
texts items(const texts& given) {
  texts out;
  for (const std::string& list : given) {
    std::size_t from = 0;
    for (std::size_t comma; (comma = list.find(',', from)) != std::string::npos; from = comma + 1)
      out.push_back(list.substr(from, comma - from));
    out.push_back(list.substr(from));
  }
  return out;
}

/// The words as "a, b or c", the chosen ones marked.
std::string listed(const texts& words, const texts& chosen) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    if (std::find(chosen.begin(), chosen.end(), words[i]) != chosen.end()) out += " (default)";
  }
  return out;
}

std::string not_one_of(const texts& words, const std::string& text) {
  if (std::find(words.begin(), words.end(), text) != words.end()) return {};
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return "not one of " + all + ": " + text;
}

std::string take_whole(const std::string& text, int low, int high, int& to) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error != std::errc{} || value < low || value > high)
    return "not a whole number from " + std::to_string(low) + " to " + std::to_string(high) + ": " +
           text;
  to = value;
  return {};
}

std::string take_number(const std::string& text, bool positive, double& to) {
  const auto value = parse_number(text);
  if (!value || !std::isfinite(*value) || (positive && !(*value > 0)))
    return std::string("not a ") + (positive ? "positive " : "") + "finite number: " + text;
  to = *value;
  return {};
}

std::string in_range(int low, int high) {
  return ", " + std::to_string(low) + " to " + std::to_string(high);
}

std::string default_of(double value) {
  if (!std::isfinite(value)) return {};
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  return ", by default " +
         (whole ? std::to_string(static_cast<long long>(value)) : shortest(value));
}

std::string take_name(const std::string& text, std::string& to) {
  if (text.empty()) return "the name is empty";
  to = text;
  return {};
}

}  // namespace

options::options(std::string program, std::string head, std::string foot)
    : program_(std::move(program)), head_(std::move(head)), foot_(std::move(foot)) {}

void options::text(const std::string& name, std::string& to, const std::string& type,
                   const std::string& help) {
  options_.push_back({name, type, help, times::once,
                      [&to](const texts& given) { return take_name(given[0], to); }});
}

void options::file(const std::string& name, std::string& to, const std::string& help) {
  text(name, to, name[0] == '-' ? "FILE" : "", help);
}

void options::file(const std::string& name, std::vector<std::string>& to, const std::string& help) {
  options_.push_back({name, "FILE", help, times::often, [&to](const texts& given) {
                        std::string wrong;
                        to.clear();
                        for (const std::string& text : given) {
                          to.emplace_back();
                          if (wrong.empty()) wrong = take_name(text, to.back());
                        }
                        return wrong;
                      }});
}

void options::flag(const std::string& name, bool& to, const std::string& help) {
  options_.push_back({name, "", help, times::flag, [&to](const texts&) {
                        to = true;
                        return std::string();
                      }});
}

void options::number(const std::string& name, double& to, const std::string& type,
                     const std::string& help) {
  options_.push_back({name, type, help + default_of(to), times::once,
                      [&to](const texts& given) { return take_number(given[0], false, to); }});
}

void options::positive(const std::string& name, double& to, const std::string& type,
                       const std::string& help) {
  options_.push_back({name, type, help + default_of(to), times::once,
                      [&to](const texts& given) { return take_number(given[0], true, to); }});
}

void options::whole(const std::string& name, int& to, int low, int high, const std::string& type,
                    const std::string& help) {
  options_.push_back(
      {name, type, help + in_range(low, high) + default_of(to), times::once,
       [=, &to](const texts& given) { return take_whole(given[0], low, high, to); }});
}

void options::whole(const std::string& name, std::optional<int>& to, int low, int high,
                    const std::string& type, const std::string& help,
                    const std::string& by_default) {
  options_.push_back(
      {name, type, help + in_range(low, high) + ", by default " + by_default, times::once,
       [=, &to](const texts& given) { return take_whole(given[0], low, high, to.emplace()); }});
}

void options::whole(const std::string& name, std::vector<int>& to, int low, int high,
                    const std::string& type, const std::string& help) {
  std::string defaults;
  for (const int value : to) defaults += (defaults.empty() ? "" : ",") + std::to_string(value);
  options_.push_back({name, type, help + in_range(low, high) + ", by default " + defaults,
                      times::often, [=, &to](const texts& given) {
                        std::string wrong;
                        to.clear();
                        for (const std::string& item : items(given))
                          if (wrong.empty()) wrong = take_whole(item, low, high, to.emplace_back());
                        return wrong;
                      }});
}

void options::choice(const std::string& name, std::string& to, const texts& words,
                     const std::string& type, const std::string& help) {
  options_.push_back({name, type, help.empty() ? listed(words, {to}) : help, times::once,
                      [words, &to](const texts& given) {
                        to = given[0];
                        return not_one_of(words, to);
                      }});
}

void options::choice(const std::string& name, std::vector<std::string>& to, const texts& words,
                     const std::string& type, const std::string& help) {
  options_.push_back({name, type, help.empty() ? listed(words, to) : help, times::often,
                      [words, &to](const texts& given) {
                        std::string wrong;
                        to = items(given);
                        for (const std::string& item : to)
                          if (wrong.empty()) wrong = not_one_of(words, item);
                        return wrong;
                      }});
}

void options::check(const std::string& name, std::function<std::string()> objection) {
  rules_.push_back({name, std::move(objection)});
}

std::string options::parse(int argc, const char* const* argv) const {
  const std::string version = program_ + ", cumulus " + std::to_string(CUMULUS_VERSION_MAJOR) +
                              "." + std::to_string(CUMULUS_VERSION_MINOR) + "." +
                              std::to_string(CUMULUS_VERSION_PATCH) + "\n";
  CLI::App app(head_ + "\n", program_);
  app.footer(foot_ +
             "\n\nBad input ends the program with status 2 and one line that says where, what and "
             "how to mend it.");
  app.formatter(std::make_shared<plain_formatter>());
  for (const option& o : options_) {
    if (o.may_be_given == times::flag) {
      app.add_flag_callback(o.name, [&o] { o.take({}); }, o.help);
      continue;
    }
    CLI::callback_t take = [&o](const texts& given) {
      if (const std::string wrong = o.take(given); !wrong.empty())
        throw CLI::ValidationError(o.name, wrong);
      return true;
    };
    CLI::Option* const added = app.add_option(o.name, std::move(take), o.help);
    added->type_name(o.type);
    if (o.may_be_given == times::often) added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  app.set_version_flag("--version", version, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  try {
    app.parse(argc, argv);
    for (const rule& r : rules_)
      if (const std::string wrong = r.objection(); !wrong.empty())
        throw CLI::ValidationError(r.name, wrong);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion&) {
    return version;
  } catch (const CLI::ParseError& error) {
    throw std::runtime_error("command line: " + one_line(error.what()) + "; see " + program_ +
                             " --help");
  }
  return {};
}

}  // namespace support
