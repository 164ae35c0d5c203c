// SPDX-License-Identifier: MIT
//
// The tables of docs/edges.md. Every cell is what the call beside it gives; every row also says what it should give, and the
// program fails where that differs. Prints the tables; `--check docs/edges.md` compares them with the page's, `--write
// docs/edges.md` puts them into it, in place of those that are there.

#include <cumulus/cumulus.hpp>

#include <complex>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "support/refusal.hpp"

namespace {

using namespace cumulus;
using namespace cumulus::detail;
using Eigen::Index;
using numbers = std::vector<double>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// What a value looks like in a table.

/// Six digits, which no compiler and no instruction set changes; whole numbers, infinities and the ends of T's range only where
/// the value is exactly that.
template <class T>
[[nodiscard]] std::string text_of_number(T x) {
  using limits = std::numeric_limits<T>;
  const std::string sign = x < T(0) ? "−" : "";
  const T size = x < T(0) ? T(-x) : x;
  if (is_nan(x)) return "NaN";
  if (size > limits::max()) return sign + "∞";
  if (size == limits::max()) return sign + "max";
  if (size == limits::denorm_min()) return sign + "denorm_min";
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", double(size));
  const bool looks_whole = std::strpbrk(text, ".e") == nullptr;
  if (looks_whole && double(size) != std::floor(double(size)))
    std::snprintf(text, sizeof text, "%#.6g", double(size));
  return sign + text;
}

template <class T>
[[nodiscard]] std::string name_of_type() {
  if constexpr (std::same_as<T, float>) return "float";
  if constexpr (std::same_as<T, double>) return "double";
  if constexpr (std::same_as<T, long double>) return "long double";
  if constexpr (std::same_as<T, Eigen::half>) return "half";
  if constexpr (std::same_as<T, Eigen::bfloat16>) return "bfloat16";
  return "another type";
}

[[nodiscard]] std::string text(float x) { return text_of_number(x); }
[[nodiscard]] std::string text(double x) { return text_of_number(x); }
[[nodiscard]] std::string text(long double x) { return text_of_number(x); }
[[nodiscard]] std::string text(Eigen::half x) { return text_of_number(float(x)); }
[[nodiscard]] std::string text(Eigen::bfloat16 x) { return text_of_number(float(x)); }
[[nodiscard]] std::string text(bool x) { return x ? "true" : "false"; }
[[nodiscard]] std::string text(int x) { return std::to_string(x); }
[[nodiscard]] std::string text(Index x) { return std::to_string(x); }
[[nodiscard]] std::string text(const std::string& x) { return x; }
[[nodiscard]] std::string text(const char* x) { return x; }
[[nodiscard]] std::string text(linear_status x) {
  return x == linear_status::positive      ? "positive"
         : x == linear_status::nonpositive ? "nonpositive"
                                           : "invalid";
}
template <class T>
[[nodiscard]] std::string text(const std::complex<T>& x) {
  return "(" + text(x.real()) + ", " + text(x.imag()) + ")";
}
template <class T>
[[nodiscard]] std::string text(const signed_log<T>& x) {
  return "(" + text(x.log_abs) + ", " + text(x.sign) + ")";
}
template <class T>
[[nodiscard]] std::string text(const estimate<T>& x) {
  return text(x.value) + " ± " + text(x.bound);
}
template <class T>
[[nodiscard]] std::string text(const scored_block<T>& x) {
  return text(x.value) + " in [" + text(x.lower) + ", " + text(x.upper) + "]";
}
template <class Values>
  requires requires(const Values& x) { x[0], x.size(); }
[[nodiscard]] std::string text(const Values& x) {
  std::string all;
  for (Index i = 0; i < Index(x.size()); ++i) {
    using place =
        std::conditional_t<std::is_base_of_v<Eigen::DenseBase<Values>, Values>, Index, std::size_t>;
    all += (i > 0 ? ", " : "") + text(x[place(i)]);
  }
  return "[" + all + "]";
}
template <class T>
[[nodiscard]] std::string typed(const T& x) {
  return name_of_type<T>() + " " + text(x);
}

// The tables.

struct table {
  std::vector<std::vector<std::string>> rows;  // the first is the header
};
std::vector<table> tables;
int failures = 0;

void fail(const std::string& what, const std::string& got, const std::string& wanted) {
  std::fprintf(stderr, "%s\n  gives   %s\n  should  %s\n", what.c_str(), got.c_str(),
               wanted.c_str());
  ++failures;
}

void start(std::vector<std::string> header) { tables.push_back({{std::move(header)}}); }

/// A row: the call as written, what it gives, and what it should.
void row(const std::string& call, const std::vector<std::string>& got,
         const std::vector<std::string>& wanted) {
  std::vector<std::string> cells{"`" + call + "`"};
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] != wanted[i]) fail(call + ", column " + std::to_string(i + 1), got[i], wanted[i]);
    cells.push_back(got[i]);
  }
  tables.back().rows.push_back(std::move(cells));
}

#define CASE(wanted, ...) row(#__VA_ARGS__, {text(__VA_ARGS__)}, {wanted})
#define REFUSED(wanted, ...) \
  row(#__VA_ARGS__, {refusal([&] { static_cast<void>(__VA_ARGS__); })}, {"cumulus: " wanted})

template <class T = double>
[[nodiscard]] std::vector<T> v(std::initializer_list<T> x) {
  return x;
}
[[nodiscard]] Eigen::MatrixXd column(const numbers& x) {
  return Eigen::Map<const Eigen::MatrixXd>(x.data(), Index(x.size()), 1);
}

// Vectors: each row in float and in double, and in every way that a vector can be handed over.

/// Options as a caller writes them, for any scalar and for vectors and matrices.
struct with {
  numbers weights{};
  std::vector<int> mask{};
  double scale = 1;
  std::optional<double> sink{};
  cumulus::degenerate degenerate = degenerate::limit;
};

template <class T>
using vector_of = Eigen::Matrix<T, Eigen::Dynamic, 1>;
using keep = Eigen::Array<bool, Eigen::Dynamic, 1>;

/// `use(options, softmax_options)` with weights and mask where they are given.
template <class Plain, class Soft, class T, class Use>
void use_options(const vector_of<T>& weights, const keep& mask, const with& o, Use use) {
  const bool weighs = weights.size() > 0, masks = mask.size() > 0;
  const auto go = [&](Plain&& q, Soft&& p) {
    if constexpr (std::same_as<Plain, options<T>>) q.sink = p.sink = o.sink;
    use(q, p);
  };
  const double s = o.scale;
  const degenerate d = o.degenerate;
  if (weighs && masks)
    return go({.weights = weights, .mask = mask, .scale = s},
              {.weights = weights, .mask = mask, .scale = s, .degenerate = d});
  if (weighs)
    return go({.weights = weights, .scale = s}, {.weights = weights, .scale = s, .degenerate = d});
  if (masks) return go({.mask = mask, .scale = s}, {.mask = mask, .scale = s, .degenerate = d});
  go({.scale = s}, {.scale = s, .degenerate = d});
}

using four = std::vector<std::string>;  // logsumexp, softmax, log_softmax, logsumexp_gradient

void expect(const std::string& call, const char* how, const four& got, const four& wanted) {
  const char* const names[] = {"logsumexp", "softmax", "log_softmax", "logsumexp_gradient"};
  for (std::size_t i = 0; i < 4; ++i) {
    if (got[i] != wanted[i]) fail(std::string(names[i]) + ", " + call + how, got[i], wanted[i]);
  }
}

template <class T>
void try_vector(const std::string& call, const numbers& x, const with& o, const four& wanted) {
  const auto as_vector = [](const auto& from) {
    vector_of<T> to(Index(from.size()));
    for (Index i = 0; i < to.size(); ++i) to[i] = T(from[std::size_t(i)]);
    return to;
  };
  const vector_of<T> values = as_vector(x), weights = as_vector(o.weights);
  keep mask(Index(o.mask.size()));
  for (Index i = 0; i < mask.size(); ++i) mask[i] = o.mask[std::size_t(i)] != 0;
  const Index n = values.size();

  use_options<options<T>, softmax_options<T>, T>(
      weights, mask, o, [&](const auto& q, const auto& p) {
        expect(call, "",
               {text(logsumexp(values, q)), text(softmax(values, p)), text(log_softmax(values, p)),
                text(logsumexp_gradient(values, q))},
               wanted);
        vector_of<T> soft = values, log_soft = values;
        softmax(soft, into(soft), p);
        log_softmax(log_soft, into(log_soft), p);
        expect(call, ", in place", {wanted[0], text(soft), text(log_soft), wanted[3]}, wanted);
        const vector_of<T> reversed = values.reverse();
        expect(call, ", stride -1",
               {text(logsumexp(reversed.reverse(), q)), text(softmax(reversed.reverse(), p)),
                text(log_softmax(reversed.reverse(), p)), wanted[3]},
               wanted);
      });

  // Behind it, 70 elements that are masked and hold NaN.
  vector_of<T> longer = vector_of<T>::Constant(n + 70, quiet_nan<T>), heavier;
  longer.head(n) = values;
  if (weights.size() > 0) {
    heavier = vector_of<T>::Ones(n + 70);
    heavier.head(n) = weights;
  }
  keep kept = keep::Constant(n + 70, false);
  kept.head(n).setConstant(true);
  if (mask.size() > 0) kept.head(n) = mask;
  use_options<options<T>, softmax_options<T>, T>(
      heavier, kept, o, [&](const auto& q, const auto& p) {
        const auto head = [&](const vector_of<T>& all) { return text(vector_of<T>(all.head(n))); };
        expect(call, ", masked NaNs behind",
               {text(logsumexp(longer, q)), head(softmax(longer, p)), head(log_softmax(longer, p)),
                head(logsumexp_gradient(longer, q))},
               wanted);
      });

  // As the rows and the columns of a matrix.
  if (o.sink || n == 0) return;
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> columns = values.replicate(1, 3);
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> rows = columns.transpose();
  use_options<matrix_options<T>, softmax_matrix_options<T>, T>(
      weights, mask, o, [&](const auto& q, const auto& p) {
        expect(call, ", row of a matrix",
               {text(logsumexp(rows, rowwise, q)[2]),
                text(vector_of<T>(softmax(rows, rowwise, p).row(2))),
                text(vector_of<T>(log_softmax(rows, rowwise, p).row(2))), wanted[3]},
               wanted);
        expect(call, ", column of a matrix",
               {text(logsumexp(columns, colwise, q)[2]),
                text(vector_of<T>(softmax(columns, colwise, p).col(2))),
                text(vector_of<T>(log_softmax(columns, colwise, p).col(2))), wanted[3]},
               wanted);
      });
}

void vector_row(const std::string& call, const four& wanted, const numbers& x, const with& o = {}) {
  const int before = failures;
  try_vector<float>(call + ", float", x, o, wanted);
  try_vector<double>(call + ", double", x, o, wanted);
  // What is shown is what all of them gave.
  if (failures == before) row(call, wanted, wanted);
}

#define VECTOR(a, b, c, d, ...) vector_row(#__VA_ARGS__, {a, b, c, d}, __VA_ARGS__)

void vectors() {
  start({"x, options", "logsumexp", "softmax", "log_softmax", "logsumexp_gradient"});
  VECTOR("−∞", "[]", "[]", "[]", {});
  VECTOR("0", "[]", "[]", "[]", {}, {.sink = 0.0});
  VECTOR("2.5", "[1]", "[0]", "[1]", {2.5});
  VECTOR("1.5", "[0, 1]", "[−∞, 0]", "[0, 1]", {-inf, 1.5});
  VECTOR("−∞", "[NaN]", "[NaN]", "[0]", {-inf});
  VECTOR("−∞", "[NaN, NaN]", "[NaN, NaN]", "[0, 0]", {-inf, -inf});
  VECTOR("−∞", "[0, 0]", "[−∞, −∞]", "[0, 0]", {-inf, -inf}, {.degenerate = degenerate::zero});
  VECTOR("−∞", "[0.5, 0.5]", "[−0.693147, −0.693147]", "[0, 0]", {-inf, -inf},
         {.degenerate = degenerate::uniform});
  VECTOR("∞", "[1, 0]", "[0, −∞]", "[1, 0]", {inf, 1});
  VECTOR("∞", "[1, 0]", "[0, −∞]", "[1, 0]", {inf, -inf});
  VECTOR("∞", "[NaN, NaN]", "[NaN, NaN]", "[1, 0]", {inf, 1}, {.degenerate = degenerate::ieee});
  VECTOR("∞", "[NaN, NaN, 0]", "[NaN, NaN, −∞]", "[NaN, NaN, 0]", {inf, inf, 0});
  VECTOR("NaN", "[NaN, NaN]", "[NaN, NaN]", "[NaN, NaN]", {nan, 1});
  VECTOR("NaN", "[NaN, NaN]", "[NaN, NaN]", "[NaN, NaN]", {nan, inf});
  VECTOR("NaN", "[NaN, NaN]", "[NaN, NaN]", "[NaN, NaN]", {nan, -inf});
  VECTOR("0.693147", "[0.5, 0.5]", "[−0.693147, −0.693147]", "[0.5, 0.5]", {0.0, -0.0});
  VECTOR("4.24835e-18", "[1, 4.24835e-18]", "[−4.24835e-18, −40]", "[1, 4.24835e-18]", {0, -40});
  VECTOR("1e+30", "[0.5, 0.5]", "[−0.693147, −0.693147]", "[0.5, 0.5]", {1e30, 1e30});

  start({"x, mask or weights", "logsumexp", "softmax", "log_softmax", "logsumexp_gradient"});
  VECTOR("−∞", "[0, 0]", "[−∞, −∞]", "[0, 0]", {1, 2}, {.mask = {0, 0}});
  VECTOR("−∞", "[0, 0]", "[−∞, −∞]", "[0, 0]", {nan, inf}, {.mask = {0, 0}});
  VECTOR("−∞", "[0, NaN]", "[−∞, NaN]", "[0, 0]", {1, -inf}, {.mask = {0, 1}});
  VECTOR("2.5", "[0, 1]", "[−∞, 0]", "[0, 1]", {nan, 2.5}, {.mask = {0, 1}});
  VECTOR("2.5", "[0, 1]", "[−∞, 0]", "[0, 1]", {inf, 2.5}, {.mask = {0, 1}});
  VECTOR("2.5", "[0, 1]", "[−∞, 0]", "[0, 1]", {nan, 2.5}, {.weights = {0, 1}});
  VECTOR("2.5", "[0, 1]", "[−∞, 0]", "[0, 1]", {inf, 2.5}, {.weights = {-0.0, 1}});
  VECTOR("−∞", "[0, 0]", "[−∞, −∞]", "[0, 0]", {1, 2}, {.weights = {0, 0}});
  VECTOR("1.38629", "[0.25, 0.75]", "[−1.38629, −0.287682]", "[0.25, 0.75]", {0, 0},
         {.weights = {1, 3}});
  VECTOR("0", "[−1, 2]", "[NaN, 0.693147]", "[−1, 2]", {0, 0}, {.weights = {-1, 2}});
  VECTOR("NaN", "[NaN, NaN]", "[NaN, NaN]", "[NaN, NaN]", {0, 0}, {.weights = {-2, 1}});
  VECTOR("−∞", "[NaN, NaN]", "[NaN, NaN]", "[NaN, NaN]", {0, 0}, {.weights = {1, -1}});
  VECTOR("NaN", "[NaN, NaN]", "[NaN, NaN]", "[NaN, NaN]", {0, 0}, {.weights = {nan, 1}});
  VECTOR("∞", "[1, 0]", "[0, −∞]", "[1, 0]", {0, 0}, {.weights = {inf, 1}});
  VECTOR("NaN", "[NaN, NaN]", "[NaN, NaN]", "[NaN, NaN]", {-inf, 0}, {.weights = {inf, 1}});

  start({"x, scale or sink", "logsumexp", "softmax", "log_softmax", "logsumexp_gradient"});
  VECTOR("0.693147", "[0.5, 0.5]", "[−0.693147, −0.693147]", "[0, 0]", {5, 7}, {.scale = 0});
  VECTOR("0.693147", "[0.5, 0.5]", "[−0.693147, −0.693147]", "[0, 0]", {inf, -inf}, {.scale = 0});
  VECTOR("∞", "[0, 0.5, 0.5]", "[−∞, −0.693147, −0.693147]", "[0, ∞, ∞]", {1, 2, 2},
         {.scale = inf});
  VECTOR("0.693147", "[0, 0.5, 0.5]", "[−∞, −0.693147, −0.693147]", "[0, ∞, ∞]", {-1, 0, 0},
         {.scale = inf});
  VECTOR("−∞", "[0, 1]", "[−∞, 0]", "[0, ∞]", {-2, -1}, {.scale = inf});
  VECTOR("∞", "[1, 0]", "[0, −∞]", "[−1, 0]", {-inf, 1}, {.scale = -1});
  VECTOR("∞", "[1, 0]", "[0, −∞]", "[2, 0]", {inf, 1}, {.scale = 2});
  VECTOR("NaN", "[NaN, NaN]", "[NaN, NaN]", "[NaN, NaN]", {1, 2}, {.scale = nan});
  VECTOR("0", "[0, 0]", "[−∞, −∞]", "[0, 0]", {-inf, -inf}, {.sink = 0.0});
  VECTOR("0", "[0, 0]", "[−∞, −∞]", "[0, 0]", {nan, inf}, {.mask = {0, 0}, .sink = 0.0});
  VECTOR("0.693147", "[0.5]", "[−0.693147]", "[0.5]", {0}, {.sink = 0.0});
  VECTOR("2.5", "[1]", "[0]", "[1]", {2.5}, {.sink = -inf});
  VECTOR("∞", "[0]", "[−∞]", "[0]", {2}, {.sink = inf});
  VECTOR("NaN", "[NaN]", "[NaN]", "[NaN]", {2}, {.sink = nan});
}

void scalars() {
  constexpr double most = std::numeric_limits<double>::max();
  constexpr float most_f = std::numeric_limits<float>::max();
  constexpr double least = std::numeric_limits<double>::denorm_min();
  using Eigen::half, Eigen::bfloat16;
  start({"call", "result"});
  CASE("max", logsumexp(v({most, most})));
  CASE("[0.5, 0.5]", softmax(v({most, most})));
  CASE("[1, 0]", softmax(v({most, -most})));
  CASE("[0, −∞]", log_softmax(v({most, -most})));
  CASE("[0, −6e+38]", log_softmax(v({3e38, -3e38})));
  CASE("[0, −∞]", log_softmax(v({3e38f, -3e38f})));
  CASE("[0.5, 0.5]", softmax(v({most_f, most_f})));
  CASE("[1, denorm_min]", softmax(v({0.0, -744.44})));
  CASE("[1, denorm_min]", softmax(v({0.0f, -103.278f})));
  CASE("0.693147", logsumexp(v({least, least})));
  CASE("[0.880797, 0.119203]", softmax(v({1e300, 0.0}), {.scale = 2e-300}));
  CASE("[0, 1]", softmax(v({1e300, 2e300}), {.scale = 1e300}));
  CASE("[1, 0]", softmax(v({-inf, 1.0}), {.scale = -1}));
  CASE("double 3.40761", typed(logsumexp(v({1, 2, 3}))));
  CASE("float 3.40761", typed(logsumexp(v({1.0f, 2.0f, 3.0f}))));
  CASE("long double 3.40761", typed(logsumexp(v({1.0L, 2.0L, 3.0L}))));
  CASE("half 3.4082", typed(logsumexp(v({half(1), half(2), half(3)}))));
  CASE("bfloat16 3.40625", typed(logsumexp(v({bfloat16(1), bfloat16(2), bfloat16(3)}))));
  CASE("half ∞", typed(logsumexp(v({half(65504), half(65504), half(-65504)}), {.scale = 2})));
  CASE("half 0.00195312", typed(softmax(std::vector<half>(512))[0]));

  start({"call", "result"});
  CASE("1.5", logaddexp(-inf, 1.5));
  CASE("−∞", logaddexp(-inf, -inf));
  CASE("∞", logaddexp(inf, inf));
  CASE("∞", logaddexp(inf, -inf));
  CASE("NaN", logaddexp(nan, inf));
  CASE("4.24835e-18", logaddexp(0.0, -40.0));
  CASE("−∞", logsubexp(2.0, 2.0));
  CASE("−∞", logsubexp(-inf, -inf));
  CASE("NaN", logsubexp(inf, inf));
  CASE("NaN", logsubexp(1.0, 2.0));
  CASE("∞", logsubexp(inf, 2.0));
  CASE("(1.54132, −1)", logsubexp_signed(1.0, 2.0));
  CASE("(−∞, 0)", logsubexp_signed(2.0, 2.0));
  CASE("(NaN, NaN)", logsubexp_signed(inf, inf));
  CASE("(−∞, 0)", logsumexp_signed(v({}), v({})));
  CASE("(−∞, 0)", logsumexp_signed(v({1.0, 1.0}), v({1.0, -1.0})));
  CASE("(1.5, 1)", logsumexp_signed(v({1000.0, 1000.0, 1.5}), v({1.0, -1.0, 1.0})));
  CASE("(−109.224, 1)", logsumexp_signed(v({0.0, -800.0}), v({1e-300, 1e300})));
  CASE("(∞, −1)", logsumexp_signed(v({inf, 1.0}), v({-1.0, 1.0})));
  CASE("(NaN, NaN)", logsumexp_signed(v({inf, inf}), v({1.0, -1.0})));
  CASE("(2.5, 1)", logsumexp_signed(v({inf, 2.5}), v({0.0, 1.0})));
  CASE("NaN", logmeanexp(v({})));
  CASE("−∞", logmeanexp(v({-inf, -inf})));
  CASE("−0.693147", logmeanexp(v({-inf, 0.0})));
  CASE("5e-09", logmeanexp(v({1e-8, 0.0})));
  CASE("−∞", logvarexp(v({2.0, 2.0})));
  CASE("NaN", logvarexp(v({2.0}), {.correction = 1}));
  CASE("[]", logcumsumexp(v({})));
  CASE("[−∞, 0, 0.693147, ∞, NaN]", logcumsumexp(v({-inf, 0.0, 0.0, inf, nan})));
  CASE("[0.693147, −∞, 1.5]", segment_logsumexp(v({0.0, 1.5, 0.0}), std::vector<int>{0, 2, 0}, 3));
  CASE("[0.5, 1, 0.5]", segment_softmax(v({1e16, 1.5, 1e16}), std::vector<int>{0, 2, 0}));
  CASE("[NaN, 1, 0, NaN]", segment_softmax(v({-inf, inf, 3.0, nan}), std::vector<int>{0, 2, 2, 1}));
  CASE("[0, −∞, −0.693147, −0.693147]",
       segment_log_softmax(v({inf, 3.0, 1.0, 1.0}), std::vector<int>{0, 0, 2, 2}));
  CASE("[0.693147, NaN, 0]", segment_entropy(v({1.0, 1.0, 7.0}), std::vector<int>{0, 0, 2}));
  CASE("NaN", softmax_entropy(v({})));
  CASE("0", softmax_entropy(v({inf, 1.0})));
  CASE("1.09861", softmax_entropy(v({7.0, 7.0, 7.0})));
  CASE("NaN", softmax_entropy(v({-inf, -inf})));
  CASE("0", effective_sample_size(v({})));
  CASE("0", effective_sample_size(v({-inf, -inf})));
  CASE("1", effective_sample_size(v({inf, 1.0})));
  CASE("1", effective_sample_size(v({nan, 1.0}), {.weights = {0.0, 2.0}}));
  CASE("NaN", effective_sample_size(v({0.0, 0.0}), {.weights = {-2.0, 1.0}}));
  CASE("NaN", effective_sample_size(v({inf, inf})));
  CASE("[0, 0]", softmax_vjp(v({inf, 1.0}), v({3.0, 4.0})));
  CASE("[NaN, NaN]", softmax_vjp(v({-inf, -inf}), v({3.0, 4.0})));
  CASE("[0, 0, −0.25, 0.25]", softmax_vjp(v({nan, -inf, 0.0, 0.0}), v({nan, nan, 3.0, 4.0}),
                                          {.mask = {false, true, true, true}}));
  CASE("[0, 0]", logsumexp_hvp(v({2.0, 5.0}), v({3.0, 3.0})));
  CASE("(0.693147, 0)", logsumexp(std::vector<std::complex<double>>{{0, 0}, {0, 0}}));
  CASE("(−∞, 0)", logsumexp(std::vector<std::complex<double>>{{-inf, nan}}));
  CASE("−∞", logsumexp_accumulator<double>().value());
  CASE("true", logsumexp_accumulator<double>() + logsumexp_accumulator<double>() ==
                   logsumexp_accumulator<double>());
  CASE("0", softmax_mean<double>().value());
  CASE("−∞", softmax_mean<double>().logsumexp());
}

/// Moments of x, weighted.
template <int P = 4>
[[nodiscard]] central_moments<double, P> moments_of(const numbers& x, const numbers& w) {
  central_moments<double, P> m;
  m.add(x, w);
  return m;
}
[[nodiscard]] central_moments<double, 4> moments_of(const numbers& x) {
  return moments_of<4>(x, numbers(x.size(), 1.0));
}
[[nodiscard]] std::string found(const std::optional<moment_fault>& fault) {
  if (!fault) return "none";
  return "order " + std::to_string(fault->order) + " " + fault->reason;
}

void series() {
  start({"call", "result"});
  CASE("0", moments_of({}).weight());
  CASE("NaN", moments_of({}).mean());
  CASE("∞", moments_of({}).min());
  CASE("NaN", moments_of({}).moment(2));
  CASE("0", moments_of({5, 5, 5}).moment(2));
  CASE("0", moments_of({5, 5, 5}).moment(3));
  CASE("NaN", k_statistic(moments_of({5}), 2));
  CASE("0", k_statistic(moments_of({5, 5, 5}), 3));
  CASE("NaN", unbiased_moment(moments_of({1, 2}, {0.5, 1}), 2));
  CASE("∞", moments_of({1, inf}).mean());
  CASE("NaN", moments_of({1, inf}).moment(2));
  CASE("1", moments_of({1, nan}, {1, 0}).mean());
  CASE("NaN", moments_of({1, 2}, {1, -1}).mean());
  CASE("true", moments_of({}) + moments_of({1, 2}) == moments_of({1, 2}));
  CASE("true", (moments_of({1, 2}) - moments_of({1, 2})).empty());
  CASE("NaN", (moments_of({1}) - moments_of({1, 2})).mean());
  CASE("0.25", moments_of({1e12, 1e12 + 1}).moment(2));

  start({"call", "result"});
  CASE("−∞ ± 0", logsumexp_series(v({}), 4));
  CASE("−∞ ± 0", logsumexp_series(v({-inf, -inf}), 4));
  CASE("∞ ± 0", logsumexp_series(v({inf, 1.0}), 4));
  CASE("NaN", logsumexp_series(v({nan, 1.0}), 4).value);
  CASE("0", logsumexp_series(v({-inf, 0.0}), 4).value);
  CASE("3", logsumexp_series(v({3.0}), 4).value);
  CASE("exact", name_of(logsumexp_series(v({inf, 1.0}), 4).kind));
  CASE("true", std::isfinite(logsumexp_series(v({-400.0, 400.0}), 24).bound));
  CASE("∞", logsumexp_series(v({-1e200, 1e200}), 4).bound);
  CASE("2", logsumexp_series(v({1.0, 2.0}), {.order = 3, .form = form::moment}).order);
  CASE("[]", softmax_series(v({}), 4));
  CASE("[1]", softmax_series(v({3.0}), 4));
  CASE("[0.5, 0.5]", softmax_series(v({3.0, 3.0}), 4));
  CASE("[1, 0]", softmax_series(v({inf, 3.0}), 4));
  CASE("∞", convergence_radius(0.0));
  CASE("0", standard_error(v({2.0, 2.0, 2.0}), 4));
  CASE("none", found(find_moment_fault(moments_of({1, 2, 4}))));
  CASE("order 2 is even and negative", found(find_moment_fault(v({1.0, 0.0, -1.0}))));
}

// Attention: one query of 1, keys and values of width 1 and a scale of 1, so that the keys are the scores.

struct seen {
  std::vector<int> mask{};
  std::optional<double> sink{};
  double softcap = 0;
  std::optional<Index> first_query{};  // given: causal
};

template <class T>
void try_attention(const std::string& call, const numbers& keys, const numbers& values,
                   const seen& o, const std::vector<std::string>& wanted) {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const matrix q = matrix::Ones(1, 1), k = column(keys).cast<T>(), x = column(values).cast<T>();
  const auto see = [&](const attention_result<T>& r) {
    const std::vector<std::string> got{text(r.output(0, 0)), text(r.logsumexp[0])};
    for (std::size_t i = 0; i < 2; ++i)
      if (got[i] != wanted[i]) fail(call, got[i], wanted[i]);
  };
  Eigen::Array<bool, 1, Eigen::Dynamic> mask(k.rows());
  for (Index i = 0; i < k.rows(); ++i) mask[i] = o.mask.empty() || o.mask[std::size_t(i)] != 0;
  const double sink = o.sink.value_or(-inf);
  const bool causal = o.first_query.has_value();
  if (o.mask.empty())
    see(attention(q, k, x,
                  {.scale = 1.0,
                   .sink = sink,
                   .causal = causal,
                   .first_query = o.first_query,
                   .softcap = o.softcap}));
  see(attention(q, k, x,
                {.mask = mask,
                 .scale = 1.0,
                 .sink = sink,
                 .causal = causal,
                 .first_query = o.first_query,
                 .softcap = o.softcap}));
}
void attention_row(const std::string& call, const std::vector<std::string>& wanted,
                   const numbers& keys, const numbers& values, const seen& o = {}) {
  const int before = failures;
  try_attention<float>(call + ", float", keys, values, o, wanted);
  try_attention<double>(call + ", double", keys, values, o, wanted);
  if (failures == before) row(call, wanted, wanted);
}
#define ATTENTION(output, log_sum, ...) attention_row(#__VA_ARGS__, {output, log_sum}, __VA_ARGS__)

/// Blocks of two tokens of the keys.
[[nodiscard]] block_summaries<double> blocks_of(const numbers& keys) {
  block_summaries<double> blocks({.key_width = 1, .block = 2});
  blocks.append_rows(column(keys));
  return blocks;
}
[[nodiscard]] std::vector<scored_block<double>> scores_of(const numbers& keys) {
  return block_scores(blocks_of(keys), v({1.0}), block_score::mean);
}

void attention_tables() {
  start({"keys, values, options", "output", "logsumexp"});
  ATTENTION("0", "−∞", {}, {});
  ATTENTION("0", "−∞", {1, 2}, {5, 7}, {.mask = {0, 0}});
  ATTENTION("0", "−∞", {nan, inf}, {nan, inf}, {.mask = {0, 0}});
  ATTENTION("0", "−∞", {1, 2}, {5, 7}, {.first_query = -1});
  ATTENTION("0", "1.5", {1, 2}, {5, 7}, {.mask = {0, 0}, .sink = 1.5});
  ATTENTION("0", "−∞", {-inf, -inf}, {5, 7});
  ATTENTION("7.5", "2.5", {-inf, 2.5}, {nan, 7.5});
  ATTENTION("7.5", "2.5", {nan, 2.5}, {nan, 7.5}, {.mask = {0, 1}});
  ATTENTION("5", "∞", {inf, 2}, {5, 7});
  ATTENTION("NaN", "∞", {inf, inf}, {5, 7});
  ATTENTION("NaN", "NaN", {nan, 2}, {5, 7});
  ATTENTION("∞", "0.693147", {0, 0}, {inf, 7});
  ATTENTION("NaN", "0.693147", {0, 0}, {inf, -inf});
  ATTENTION("3.1", "0.693147", {0}, {6.2}, {.sink = 0.0});
  ATTENTION("6.1", "0.693147", {3e38, 3e38}, {5, 7.2}, {.softcap = 1e-38});

  start({"call", "result"});
  const Eigen::MatrixXd one = column({1});
  auto nothing = attention_result<double>::none(1, 1), keyless = nothing;
  CASE("−∞", merge(keyless, nothing).logsumexp[0]);
  CASE("1", merge(nothing, attention(one, one, one)).output(0, 0));
  CASE("0", share_beside(-inf, -inf));
  CASE("NaN", share_beside(inf, inf));
  CASE("[]", scores_of({}));
  CASE("[3.69315 in [3.69315, 3.69315]]", scores_of({3, 3}));
  CASE("NaN", scores_of({nan, 1, 3, 3})[0].value);
  CASE("false", is_nan(scores_of({nan, 1, 3, 3})[1].value));
  CASE("[]", select_blocks(v({}), {.top = 2}));
  CASE("[0, 1]", select_blocks(v({4.0, 4.0, 4.0}), {.top = 2}));
  CASE("[0, 2]", select_blocks(v({1.0, 3.0, nan}), {.top = 2, .first_blocks = 1}));
  CASE("[2]", select_blocks(v({1.0, 3.0, nan}), {.top = 1}));
  CASE("[0, 1, 2]", select_blocks(v({1.0, 2.0, 3.0}), {.top = 9}));
  CASE("[1]", select_blocks(v({1.0, 2.0}), {.top = 1, .own = 1}));
  CASE("0", presets::delta_rule_state<double>(1, 1).read(v({1.0}))[0]);
  const auto gradient = [&](const numbers& k, const numbers& x) {
    return attention_vjp(one, column(k), column(x), one, {.scale = 1.0});
  };
  CASE("0", gradient({-inf, 2.5}, {nan, 7.5}).queries(0, 0));
  CASE("0", gradient({-inf, 2.5}, {nan, 7.5}).values(0, 0));
  CASE("1", gradient({-inf, 2.5}, {nan, 7.5}).values(1, 0));
  CASE("0", gradient({inf, 2}, {5, 7}).queries(0, 0));
  CASE("1", gradient({inf, 2}, {5, 7}).values(0, 0));
  CASE("NaN", gradient({inf, inf}, {5, 7}).values(0, 0));
  const Eigen::MatrixXd keys = column({-4, -3}), values = column({1, 2});
  const linear_attention_options uncentred{.scale = 1.0, .order = 1, .centred = false};
  CASE("nonpositive", linear_attention(one, keys, values, uncentred).status(0, 0));
  CASE("−∞", linear_attention(one, keys.topRows(0), values.topRows(0)).logsumexp(0, 0));
}

void refusals() {
  start({"call", "message of the std::invalid_argument"});
  const numbers x(3), y(4);
  const Eigen::MatrixXd m = Eigen::MatrixXd::Zero(3, 4);
  numbers out(4);
  REFUSED("softmax: x has 3 elements, out has 4", softmax(x, into(out)));
  REFUSED("logsumexp: x has 3 elements, weights has 4", logsumexp(x, {.weights = y}));
  REFUSED("softmax: x has 3 elements, mask has 1", softmax(x, {.mask = {true}}));
  REFUSED("softmax: .threads is 0; give 1 or more", softmax(x, {.threads = 0}));
  REFUSED("logsumexp: a row of x has 4 elements, weights has 3",
          logsumexp(m, rowwise, {.weights = x}));
  REFUSED("logsumexp: the result has 3 elements, sink has 4", logsumexp(m, rowwise, {.sink = y}));
  REFUSED("logsumexp_signed: x has 3 elements, w has 4", logsumexp_signed(x, y));
  REFUSED("softmax_vjp: x has 3 elements, the direction has 4", softmax_vjp(x, y));
  REFUSED(
      "segment_logsumexp: segment_ids[2] is 7, segment_count is 2; an id lies in 0..segment_count "
      "- 1",
      segment_logsumexp(x, std::vector<int>{0, 1, 7}, 2));
  REFUSED("central_moments: order -1 is outside 0..1073741823 (any order from 0)",
          central_moments<double, dynamic>(-1));
  REFUSED("central_moments: this has order 2, other has order 3; give both the same order",
          central_moments<double, dynamic>(2) += central_moments<double, dynamic>(3));
  REFUSED("central_moments::moment: order 5 is outside 0..4 (the order held)",
          moments_of({1, 2}).moment(5));
  REFUSED("sliding_window::pop: the window holds 0 states; push one first",
          sliding_window<logsumexp_accumulator<double>>(2, {}).pop());
  REFUSED("logsumexp_series: order -1 is outside 0..64 (max_series_order)",
          logsumexp_series(x, -1));
  REFUSED("logsumexp_series: order 6 is outside 0..4 (the order of the moments)",
          logsumexp_series(moments_of({1, 2}), 6));
  REFUSED("logsumexp_series: tolerance -1 is not above 0", logsumexp_series(x, {.tolerance = -1}));
  REFUSED("softmax_series: form enclosure has no softmax; give form chebyshev or automatic",
          softmax_series(x, {.order = 4, .form = form::enclosure}));
  REFUSED("validate: moment 2 = -1 is even and negative: no sample has these moments",
          validate(v({1.0, 0.0, -1.0})));
  REFUSED("logsumexp_terms: order 41 is outside 0..40 (max_terms_order)", logsumexp_terms(41));
  REFUSED("block_summaries: .key_width is 0; give 1 or more",
          block_summaries<float>({.block = 64}));
  REFUSED(
      "block_scores: smooth2 needs summaries with a covariance; give block_summary_options "
      ".covariance",
      block_scores(blocks_of({1, 2}), v({1.0, 2.0})));
  REFUSED(
      "block_scores: taylor2 needs summaries with a covariance; give block_summary_options "
      ".covariance",
      block_scores(blocks_of({1, 2}), v({1.0}), block_score::taylor2));
  REFUSED("select_blocks: .top is 0; give 1 or more", select_blocks(v({1.0}), {.top = 0}));
  REFUSED("select_blocks: .mass is 1.5; give a share in (0, 1]",
          select_blocks(v({1.0}), {.mass = 1.5}));
  REFUSED("attention: a query has width 4, a key 2; give both one width",
          attention(m, m.leftCols(2), m));
  REFUSED("attention: K has 3 elements, V has 2", attention(m, m, m.topRows(2)));
  REFUSED("attention: .scale is nan; give a finite number", attention(m, m, m, {.scale = nan}));
  REFUSED("attention: .softcap is -1; give 0 or more", attention(m, m, m, {.softcap = -1}));
  REFUSED("attention: a window of 0 keys; give 1 or more: the query's own position counts",
          attention(m, m, m, {.window = 0}));
  REFUSED("linear_attention: order 99 is outside 0..16 (linear_attention_max_order)",
          linear_attention(m, m, m, {.order = 99}));
  REFUSED("linear_attention: .decay is 0; give a number in (0, 1]",
          linear_attention(m, m, m, {.decay = 0}));
  REFUSED(
      "linear_attention: a window of 4 keys, but queries that see all keys; give .causal = true",
      linear_attention(m, m, m, {.window = 4}));
  REFUSED("presets::power: the power 3 is odd; give an even one, whose weights are not negative",
          presets::power(3));
  block_summaries<double> blocks({.key_width = index_t(m.cols()), .block = 1});
  REFUSED("block_summaries::mean: block 2, but there are 0; give 0 or more, below that",
          blocks.mean(2));
  REFUSED("presets::delta_rule_state::add: beta 2 is outside [0, 2); give a number within",
          presets::delta_rule_state<double>(1, 1).add(v({1.0}), v({1.0}), 2.0));
  REFUSED("validate: the key of token 1 has a NaN at 0",
          validate(column({1, nan}), column({1, 2})));
}

// The page.

[[nodiscard]] std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line;
}
[[nodiscard]] std::vector<std::string> lines_of(const table& t) {
  std::vector<std::string> lines{line_of(t.rows[0]), "|"};
  for (std::size_t i = 0; i < t.rows[0].size(); ++i) lines[1] += "---|";
  for (std::size_t i = 1; i < t.rows.size(); ++i) lines.push_back(line_of(t.rows[i]));
  return lines;
}

/// The page's lines with the tables in place of its own, the first for the first.
[[nodiscard]] std::vector<std::string> with_tables(const std::vector<std::string>& page) {
  std::vector<std::string> lines;
  std::size_t next = 0;
  bool inside = false;
  for (const std::string& line : page) {
    const bool is_row = !line.empty() && line[0] == '|';
    if (is_row && !inside && next < tables.size()) {
      for (const std::string& mine : lines_of(tables[next])) lines.push_back(mine);
      ++next;
    }
    if (!is_row) lines.push_back(line);
    inside = is_row;
  }
  for (; next < tables.size(); ++next) {
    lines.push_back("");
    for (const std::string& mine : lines_of(tables[next])) lines.push_back(mine);
  }
  return lines;
}

[[nodiscard]] int usage() {
  std::fprintf(stderr, "usage: edges [--check PAGE | --write PAGE]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  vectors();
  scalars();
  series();
  attention_tables();
  refusals();
  if (failures > 0) return 1;
  if (argc == 1) {
    for (const table& t : tables) {
      for (const std::string& line : lines_of(t)) std::printf("%s\n", line.c_str());
      std::printf("\n");
    }
    return 0;
  }
  if (argc != 3) return usage();
  const std::string what = argv[1], path = argv[2];
  std::vector<std::string> page;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) page.push_back(line);
  if (page.empty()) {
    std::fprintf(stderr, "edges: %s cannot be read, or is empty\n", path.c_str());
    return 1;
  }
  in.close();
  const std::vector<std::string> wanted = with_tables(page);
  if (what == "--write") {
    std::ofstream to(path);
    for (const std::string& line : wanted) to << line << "\n";
    return to ? 0 : 1;
  }
  if (what != "--check") return usage();
  for (std::size_t i = 0; i < std::max(page.size(), wanted.size()); ++i) {
    const std::string had = i < page.size() ? page[i] : "", is = i < wanted.size() ? wanted[i] : "";
    if (had == is) continue;
    std::fprintf(stderr, "%s:%zu differs\n  page    %s\n  tests   %s\n", path.c_str(), i + 1,
                 had.c_str(), is.c_str());
    return 1;
  }
  return 0;
}
