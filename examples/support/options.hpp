// SPDX-License-Identifier: MIT
//
// The command line of a program: its options, each declared with the variable that takes its value.
// CLI11 reads it, and options.cpp alone includes that.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace support {

/// The options of a program. A variable's value is the default, which --help shows; it must outlive
/// the options. A vector takes a list, by commas or by giving the option again.
///
///   int digits = 12;
///   support::options o("mean", "Prints the mean of numbers.", "Examples\n  mean --digits 3");
///   o.whole("--digits", digits, 1, 17, "N", "Digits to print");  // ", 1 to 17, by default 12"
class options {
 public:
  /// `head` stands above the options of --help, and `foot` below; both without a last line break.
  options(std::string program, std::string head, std::string foot);

  /// A name that begins with dashes is an option, another one an argument by its place. `type` is
  /// what --help calls the value.
  void text(const std::string& name, std::string& to, const std::string& type,
            const std::string& help);  ///< not empty
  void file(const std::string& name, std::string& to, const std::string& help);
  void file(const std::string& name, std::vector<std::string>& to,
            const std::string& help);  ///< by giving the option again alone: names may have commas
  void flag(const std::string& name, bool& to, const std::string& help);
  void number(const std::string& name, double& to, const std::string& type,
              const std::string& help);  ///< finite
  void positive(const std::string& name, double& to, const std::string& type,
                const std::string& help);  ///< finite; an infinite default is none
  void whole(const std::string& name, int& to, int low, int high, const std::string& type,
             const std::string& help);
  void whole(const std::string& name, std::optional<int>& to, int low, int high,
             const std::string& type, const std::string& help,
             const std::string& by_default);  ///< where the default depends on other options
  void whole(const std::string& name, std::vector<int>& to, int low, int high,
             const std::string& type, const std::string& help);
  /// One of `words`; without `help` that lists them.
  void choice(const std::string& name, std::string& to, const std::vector<std::string>& words,
              const std::string& type, const std::string& help = {});
  void choice(const std::string& name, std::vector<std::string>& to,
              const std::vector<std::string>& words, const std::string& type,
              const std::string& help = {});

  /// What no option's value shows alone: called when all are read, it returns what is wrong with
  /// the option `name`, or nothing.
  void check(const std::string& name, std::function<std::string()> objection);

  /// Fills the variables. Returns what to print in place of all else: the help, the version, or
  /// nothing. Throws std::runtime_error, in one line, at what the command line cannot mean.
  [[nodiscard]] std::string parse(int argc, const char* const* argv) const;

  [[nodiscard]] const std::string& program() const { return program_; }

 private:
  /// Takes the texts given to the option; returns what is wrong with them or nothing.
  using taker = std::function<std::string(const std::vector<std::string>&)>;
  enum class times { flag, once, often };
  struct option {
    std::string name, type, help;
    times may_be_given;
    taker take;
  };
  struct rule {
    std::string name;
    std::function<std::string()> objection;
  };

  std::string program_, head_, foot_;
  std::vector<option> options_;
  std::vector<rule> rules_;
};

}  // namespace support
