// SPDX-License-Identifier: MIT
//
// tests/data/exact_cases.json: inputs on which public libraries were reported or found wrong, with
// answers in 40 digits.
//
// A tolerance is that of the case's note: "<= N ulp" of the result, "exact" the nearest number, and
// the bound of the header where the note leaves it open. Infinities, NaN and zeros are exact.
// Where the table and the library's semantics differ, these win; today they do not differ.
#include <cumulus/exact/log_softmax.hpp>
#include <cumulus/exact/logaddexp.hpp>
#include <cumulus/exact/logcumsumexp.hpp>
#include <cumulus/exact/logmeanexp.hpp>
#include <cumulus/exact/logsumexp.hpp>
#include <cumulus/exact/logsumexp_gradient.hpp>
#include <cumulus/exact/logsumexp_signed.hpp>
#include <cumulus/exact/segment_logsumexp.hpp>
#include <cumulus/exact/softmax.hpp>
#include <cumulus/exact/softmax_derivatives.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "any_options.hpp"
#include "catch.hpp"
#include "kinds.hpp"
#include "tables.hpp"
#include "ulp.hpp"

namespace {

using nlohmann::json;
using oracle::wide;

/// Of a case as it stands in the file: every number a string, exact in its type.
double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

template <class T>
std::vector<T> numbers(const json& list) {
  std::vector<T> values;
  for (const json& entry : list) values.push_back(static_cast<T>(number(entry)));
  return values;
}

/// x, from its list, its runs or its progression.
template <class T>
std::vector<T> input(const json& c) {
  if (c.contains("x_rle")) {
    std::vector<T> x;
    for (const json& run : c["x_rle"])
      x.insert(x.end(), run[1].get<std::size_t>(), static_cast<T>(number(run[0])));
    return x;
  }
  if (c.contains("x_arith")) {
    const json& a = c["x_arith"];
    std::vector<T> x(a["n"].get<std::size_t>());
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<T>(number(a["start"]) + double(i) * number(a["step"]));
    return x;
  }
  return numbers<T>(c["x"]);
}

std::vector<std::string> flat(const json& value) {
  std::vector<std::string> out;
  if (value.is_string()) return {value.get<std::string>()};
  for (const json& entry : value)
    for (std::string& text : flat(entry)) out.push_back(std::move(text));
  return out;
}

template <class V>
auto list(const V& values) {
  std::vector<std::remove_cvref_t<decltype(values[0])>> out;
  for (Eigen::Index i = 0; i < Eigen::Index(values.size()); ++i)
    out.push_back(values[decltype(values.size())(i)]);
  return out;
}

/// A matrix by rows: the argument is the transpose of a part of a larger one, and the results go
/// into a part of another.
template <class T>
std::vector<T> of_matrix(const std::string& function, const json& c) {
  const auto rows = Eigen::Index(c["x"].size()), cols = Eigen::Index(c["x"][0].size());
  kinds::row_major<T> around = kinds::row_major<T>::Constant(cols + 2, rows + 2, T(1000));
  for (Eigen::Index i = 0; i < rows; ++i) {
    const auto row = numbers<T>(c["x"][std::size_t(i)]);
    for (Eigen::Index j = 0; j < cols; ++j) around(j + 1, i + 1) = row[std::size_t(j)];
  }
  const auto x = around.block(1, 1, cols, rows).transpose();
  const bool by_rows = c["axis"] == 1;
  if (function == "logsumexp")
    return by_rows ? list(cumulus::logsumexp(x, cumulus::rowwise))
                   : list(cumulus::logsumexp(x, cumulus::colwise));
  REQUIRE(function == "softmax");
  kinds::col_major<T> place = kinds::col_major<T>::Constant(2 * rows, cols + 3, T(7));
  const Eigen::Map<kinds::col_major<T>, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> out(
      place.data() + 1, rows, cols, {2 * rows, 2});
  if (by_rows) {
    cumulus::softmax(x, cumulus::into(Eigen::Map(out)), cumulus::rowwise);
  } else {
    cumulus::softmax(x, cumulus::into(Eigen::Map(out)), cumulus::colwise);
  }
  std::vector<T> result;
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < cols; ++j) result.push_back(out(i, j));
  CHECK((place.array() == T(7)).count() == place.size() - rows * cols);
  return result;
}

/// What the library answers; of a signed logsumexp, log_abs and the sign.
template <class T>
auto answer(const json& c) {
  using R = cumulus::detail::result_scalar<T>;
  const std::string function = c["function"];
  if (c.contains("axis")) {
    if constexpr (std::is_same_v<T, R>) return of_matrix<T>(function, c);
  }
  const auto x = input<T>(c);
  const auto w = c.contains("weights") ? numbers<R>(c["weights"]) : std::vector<R>();
  const double scale = c.contains("scale") ? number(c["scale"]) : 1.0;
  const auto keep = std::make_unique<bool[]>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) keep[i] = !c.contains("mask") || c["mask"][i] == 1;
  const std::span<const bool> mask(keep.get(), x.size());
  const auto with = [&](auto f) {
    const std::vector<R> weights = w.empty() ? std::vector<R>(x.size(), R(1)) : w;
    if (c.contains("sink"))
      return f({.weights = weights, .mask = mask, .scale = scale, .sink = number(c["sink"])});
    // Without weights another branch runs, so give them only where the case has some.
    if (w.empty()) return f({.mask = mask, .scale = scale});
    return f({.weights = weights, .mask = mask, .scale = scale});
  };
  using options = any_options<R>;
  const auto seed = c.contains("seed") ? numbers<R>(c["seed"]) : std::vector<R>();
  if (function == "logsumexp")
    return with([&](const options& o) { return std::vector<R>{cumulus::logsumexp(x, o)}; });
  if (function == "softmax")
    return with([&](const options& o) { return list(cumulus::softmax(x, o)); });
  if (function == "log_softmax")
    return with([&](const options& o) { return list(cumulus::log_softmax(x, o)); });
  if (function == "logsumexp_grad")
    return with([&](const options& o) { return list(cumulus::logsumexp_gradient(x, o)); });
  if (function == "logsumexp_grad_weights")
    return with([&](const options& o) { return list(cumulus::logsumexp_gradient_weights(x, o)); });
  if (function == "logsumexp_signed") {
    const auto total = cumulus::logsumexp_signed(x, w, {.mask = mask, .scale = scale});
    return std::vector<R>{total.log_abs, total.sign};
  }
  if (function == "logmeanexp") return std::vector<R>{cumulus::logmeanexp(x)};
  if (function == "logcumsumexp") return list(cumulus::logcumsumexp(x));
  if (function == "log_softmax_vjp") return list(cumulus::log_softmax_vjp(x, seed));
  if (function == "softmax_vjp") return list(cumulus::softmax_vjp(x, seed));
  if (function == "logaddexp") return std::vector<R>{cumulus::logaddexp(x.at(0), x.at(1))};
  if (function == "logsubexp") return std::vector<R>{cumulus::logsubexp(x.at(0), x.at(1))};
  REQUIRE(function == "segment_logsumexp");
  const auto ids = c["segments"].get<std::vector<int>>();
  const int count = c.contains("num_segments") ? c["num_segments"].get<int>()
                                               : *std::max_element(ids.begin(), ids.end()) + 1;
  return list(cumulus::segment_logsumexp(x, ids, count));
}

/// How far a finite result other than 0 may be from the expected one.
struct tolerance {
  double ulp = 0;          ///< 0: the nearest number itself
  double least_scale = 0;  ///< ulp of at least this
};

/// What the header promises.
tolerance of_header(const std::string& function, double largest) {
  using namespace cumulus;
  using namespace cumulus::detail;
  const double least = std::max(1.0, largest);
  if (function == "logsumexp" || function == "segment_logsumexp") return {logsumexp_max_ulp, least};
  if (function == "logcumsumexp") return {logsumexp_max_ulp, least};
  if (function == "logaddexp" || function == "logsubexp") return {logaddexp_max_ulp, least};
  if (function == "logsumexp_signed") return {logsumexp_signed_max_ulp};
  if (function == "logmeanexp") return {logmeanexp_max_roundings, largest};
  if (function == "softmax") return {softmax_max_ulp};
  if (function == "log_softmax") return {log_softmax_max_ulp};
  return {logsumexp_gradient_max_ulp};
}

tolerance of_case(const json& c, double largest) {
  const std::string id = c["id"], note = c["tolerance_note"];
  // Notes that say more than a number.
  static const std::map<std::string, tolerance> special{
      {"acc-001", {0}},   // every entry exact
      {"acc-008", {0}},   // the nearest bfloat16
      {"mag-018", {0}},   // 1 to the last bit, 0 elsewhere
      {"prec-005", {0}},  // the nearest subnormal
      {"prec-006", {3}},  // "x here is exact so <= 3 ulp"
      {"prec-010", {1}},  // one entry subnormal
      {"row-014", {1}},   // of a subnormal
      {"t-011", {0}},     // exactly one half
  };
  if (const auto found = special.find(id); found != special.end()) return found->second;
  // |err| <= 2u max(1, max |x|), which is an ulp or less of that.
  if (note.rfind("ill-conditioned", 0) == 0) return {1, std::max(1.0, largest)};
  if (const auto at = note.find("<= "); at != std::string::npos) {
    const double count = std::atof(note.c_str() + at + 3);
    if (note.compare(at + 4, 4, " ulp") == 0) return {count};
  }
  if (note.rfind("exact", 0) == 0 && note.find("(infinities") == std::string::npos) return {0};
  return of_header(c["function"], largest);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class T>
double distance(T actual, const wide& expected, const tolerance& t) {
  if constexpr (std::is_floating_point_v<T>) {
    const T scale = std::max(std::abs(static_cast<T>(expected)), static_cast<T>(t.least_scale));
    return ulps(actual, expected, scale);
  } else {  // an ulp of bfloat16 is 2^16 of float's
    return ulps(float(actual), expected) * 0x1p-16;
  }
}

template <class T>
void run(const json& c) {
  INFO(c.dump());
  auto actual = answer<T>(c);
  using R = typename decltype(actual)::value_type;
  double largest = 0;
  if (c.contains("x")) {
    for (const std::string& text : flat(c["x"])) {
      if (const double v = std::abs(number(text)); v < HUGE_VAL) largest = std::max(largest, v);
    }
  }
  const tolerance t = of_case(c, largest);
  if (c.contains("expected_sign")) {
    CHECK(same(double(actual.at(1)), number(c["expected_sign"].get<std::string>())));
    actual.pop_back();
  }
  auto expected = flat(c["expected"]), nearest = flat(c["expected_nearest"]);
  expected.resize(actual.size(), expected.empty() ? "" : expected.front());  // one for all of a run
  nearest.resize(actual.size(), nearest.empty() ? "" : nearest.front());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const R rounded = static_cast<R>(number(nearest[i]));
    CAPTURE(i, double(actual[i]), double(rounded), t.ulp, t.least_scale);
    if (c["id"] == "g-012") {  // the true value is 0, the difference of terms of size 1
      CHECK(std::abs(double(actual[i])) <= double(std::numeric_limits<R>::epsilon()));
    } else if (t.ulp == 0 || !std::isfinite(double(rounded)) || number(expected[i]) == 0) {
      CHECK(same(double(actual[i]), double(rounded)));
    } else {
      CHECK(distance(actual[i], wide(expected[i]), t) <= t.ulp);
    }
  }
}

}  // namespace

TEST_CASE("exact functions: right on every case of the fault table", "[exact][value][edge]") {
  std::set<std::string> ids;
  for (const json& c : tables::read("exact_cases.json")) {
    const std::string dtype = c["dtype"];
    CHECK(ids.insert(c["id"].get<std::string>()).second);
    if (dtype == "f64") run<double>(c);
    if (dtype == "f32") run<float>(c);
    if (dtype == "i64") run<std::int64_t>(c);
    if (dtype == "bf16") run<Eigen::bfloat16>(c);
  }
  CHECK(ids.size() == 163);
}
