// SPDX-License-Identifier: MIT
//
// The tables of tests/data, read: samples with 40 digits, and polynomials with exact coefficients.
#pragma once

#include <nlohmann/json.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "wide.hpp"

namespace tables {

[[nodiscard]] inline nlohmann::json read(const std::string& name) {
  std::string path(CUMULUS_TEST_DATA);
  path += '/';  // piece by piece: g++ 12 warns of a sum of strings at some levels of optimisation
  path += name;
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

/// One of series_cases.json. c_k is kappa_k / k!, K the sum of them from 2, `exact` the limit of `series`.
struct series_case {
  std::string id;
  int order = 0;
  std::vector<double> x, w;  // w is empty where there are no weights
  oracle::wide mean, k_series, k_exact, logmeanexp_series, logmeanexp_exact, logsumexp_series,
      logsumexp_exact, truncation_error, bound_b3;
  double bound_b1 = 0;  // infinite where the range is pi or more
  std::vector<oracle::wide> central_moments, c, softmax_series, softmax_exact;
};

[[nodiscard]] inline std::vector<series_case> series_cases() {
  std::vector<series_case> out;
  const nlohmann::json file = read("series_cases.json");
  for (const auto& j : file.at("cases")) {
    const auto number = [&](const char* key) { return oracle::wide(j.at(key).get<std::string>()); };
    const auto numbers = [&](const char* key) {
      std::vector<oracle::wide> v;
      for (const auto& entry : j.at(key)) v.emplace_back(entry.get<std::string>());
      return v;
    };
    const auto doubles = [&](const char* key) {
      std::vector<double> v;
      if (!j.contains(key)) return v;
      for (const auto& entry : j.at(key))
        v.push_back(std::strtod(entry.get<std::string>().c_str(), nullptr));
      return v;
    };
    series_case c;
    c.id = j.at("id");
    c.order = j.at("order");
    c.x = doubles("x_hex");
    c.w = doubles("w_hex");
    c.mean = number("mean");
    c.k_series = number("K_series");
    c.k_exact = number("K_exact");
    c.logmeanexp_series = number("logmeanexp_series");
    c.logmeanexp_exact = number("logmeanexp_exact");
    c.logsumexp_series = number("logsumexp_series");
    c.logsumexp_exact = number("logsumexp_exact");
    c.truncation_error = number("truncation_error");
    c.bound_b3 = number("bound_B3");
    c.bound_b1 = j.at("bound_B1").is_null()
                     ? std::numeric_limits<double>::infinity()
                     : std::strtod(j.at("bound_B1").get<std::string>().c_str(), nullptr);
    c.central_moments = numbers("central_moments");
    c.c = numbers("cumulants_over_factorial");
    c.softmax_series = numbers("softmax_series");
    c.softmax_exact = numbers("softmax_exact");
    out.push_back(std::move(c));
  }
  return out;
}

/// A term  coefficient y^power v_2^{e_2} v_3^{e_3} ...
struct term {
  oracle::rational coefficient;
  int power = 0;
  std::vector<int> exponents;
};
using polynomial = std::vector<term>;

/// By order (or degree): keys "e2,e3,..." or "j;e2,e3,...".
[[nodiscard]] inline std::map<int, polynomial> polynomials(const std::string& name,
                                                           const char* member) {
  std::map<int, polynomial> out;
  const nlohmann::json file = read(name);
  for (const auto& [order, terms] : file.at(member).items()) {
    polynomial& p = out[std::stoi(order)];
    for (const auto& [key, coefficient] : terms.items()) {
      term t;
      t.coefficient = oracle::rational(coefficient.get<std::string>());
      std::string rest = key;
      if (const auto semicolon = rest.find(';'); semicolon != std::string::npos) {
        t.power = std::stoi(rest.substr(0, semicolon));
        rest.erase(0, semicolon + 1);
      }
      while (!rest.empty()) {
        std::size_t used = 0;
        t.exponents.push_back(std::stoi(rest, &used));
        rest.erase(0, used + 1);
      }
      p.push_back(std::move(t));
    }
  }
  return out;
}

/// The value at v = (v_0, v_1, v_2, ...), of which v_0 and v_1 do not matter.
template <class T>
[[nodiscard]] T value(const polynomial& p, const std::vector<T>& v, const T& y = T(1)) {
  T sum(0);
  for (const term& t : p) {
    T product(t.coefficient);
    for (int i = 0; i < t.power; ++i) product *= y;
    for (std::size_t k = 0; k < t.exponents.size(); ++k)
      for (int i = 0; i < t.exponents[k]; ++i) product *= v[k + 2];
    sum += product;
  }
  return sum;
}

}  // namespace tables
