// SPDX-License-Identifier: MIT
//
// Runs work in parts, on as many threads as the caller asks for: by OpenMP where the program is
// compiled with OpenMP, or by the caller's executor. No function here starts a thread by itself.
// Layer 0 (core).
#pragma once

#include <cumulus/detail/core/scalar.hpp>

namespace cumulus {

/// Work in the parts 0..count-1. An executor calls it once with each part, from any thread.
class part_task {
 public:
  /// Refers to a callable task(part), which must outlive this object.
  template <class Task>
  explicit part_task(const Task& task) noexcept
      : task_(__builtin_addressof(task)),
        call_([](const void* t, index_t part) { (*static_cast<const Task*>(t))(part); }) {}
  /// Runs one part.
  void operator()(index_t part) const { call_(task_, part); }

 private:
  const void* task_;
  void (*call_)(const void*, index_t);
};

/// Refers to an object that runs parts: `run(count, task)` calls task(0) .. task(count - 1) and
/// returns when all parts are done. Requires that `run` outlives the call that the executor is
/// given to.
class executor {
 public:
  /// No executor.
  executor() = default;
  /// Refers to `run`, which must outlive the calls that this object is given to.
  template <class Run>
    requires(std::invocable<Run&, index_t, part_task> &&
             !std::same_as<std::remove_cvref_t<Run>, executor>)
  executor(Run& run) noexcept
      : run_(const_cast<void*>(static_cast<const void*>(__builtin_addressof(run)))),
        call_(
            [](void* r, index_t count, part_task task) { (*static_cast<Run*>(r))(count, task); }) {}

  /// Whether an executor was given.
  [[nodiscard]] explicit operator bool() const noexcept { return call_ != nullptr; }
  /// Runs the parts 0 .. count - 1. Requires a given executor.
  void operator()(index_t count, part_task task) const { call_(run_, count, task); }

 private:
  void* run_ = nullptr;
  void (*call_)(void*, index_t, part_task) = nullptr;
};

namespace detail {

#if defined(_OPENMP) && defined(CUMULUS_COMPILED)
/// OpenMP's threads as an executor, since the loops of cumulus::compiled are compiled without OpenMP.
struct openmp_parts {
  void operator()(index_t count, part_task task) const {
#pragma omp parallel for num_threads(int(count)) schedule(static, 1)
    for (index_t part = 0; part < count; ++part) task(part);
  }
};
inline openmp_parts openmp_threads;
#endif

/// What runs the parts of a call: the caller's executor, else what this program has.
[[nodiscard]] inline executor executor_for(const executor& given) noexcept {
#if defined(_OPENMP) && defined(CUMULUS_COMPILED)
  if (!given) return executor(openmp_threads);
#endif
  return given;
}

/// task(0) .. task(count - 1): by the executor if there is one, else by OpenMP's threads if the program has them, else in turn.
template <class Task>
void run_parts(index_t count, const executor& on, const Task& task) {
  if (on) return on(count, part_task(task));
#if defined(_OPENMP)
  if (count > 1) {
#pragma omp parallel for num_threads(int(count)) schedule(static, 1)
    for (index_t part = 0; part < count; ++part) task(part);
    return;
  }
#endif
  for (index_t part = 0; part < count; ++part) task(part);
}

/// task(first, end) on about equal ranges of 0..size-1, a part each for at most `threads` threads; ranges begin at multiples of
/// `grain`.
template <class Task>
void run_ranges(index_t size, index_t grain, int threads, const executor& on, const Task& task) {
  const index_t grains = (size + grain - 1) / grain;
  const index_t parts = grains < threads ? grains : index_t(threads < 1 ? 1 : threads);
  if (parts <= 1) return size > 0 ? task(index_t(0), size) : void();
  run_parts(parts, on, [&](index_t part) {
    const index_t first = grains * part / parts * grain;
    const index_t end = part + 1 == parts ? size : grains * (part + 1) / parts * grain;
    task(first, end);
  });
}

}  // namespace detail

}  // namespace cumulus
