#include "core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>

#include "core/errors.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace fctree {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPollInterval{50};

// GNU's OpenMP cannot start threads in a child made by fork() once the parent has used
// them: such a child runs every loop in its calling thread instead of hanging.
std::atomic<bool> forked_child{false};

void watch_for_fork() {
#if defined(__unix__) || defined(__APPLE__)
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { forked_child = true; }); });
#endif
}

// The state of one loop: whether it must stop, and why.
class LoopState {
 public:
  explicit LoopState(const Execution& execution) : execution_(execution) {}

  void run(index_t index, const std::function<void(index_t)>& task, bool in_calling_thread) {
    if (stopped_.load(std::memory_order_relaxed)) return;
    try {
      if (in_calling_thread) poll();
      task(index);
    } catch (...) {
      record(index, std::current_exception());
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void poll() const {
    if (execution_.interrupted == nullptr) return;
    // Kept between loops, so that many short ones together are polled at the same pace.
    thread_local Clock::time_point last_poll{};
    const auto now = Clock::now();
    if (now - last_poll < kPollInterval) return;
    last_poll = now;
    if (execution_.interrupted()) throw Interrupted();
  }

  void record(index_t index, std::exception_ptr error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (index < error_index_) {
      error_index_ = index;
      error_ = error;
    }
    stopped_ = true;
  }

  const Execution& execution_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  index_t error_index_ = std::numeric_limits<index_t>::max();
  std::exception_ptr error_;
};

}  // namespace

Execution limit_threads(Execution execution, double work) {
  constexpr double kWorkPerThread = 2e5;  // tens of microseconds
  const double worth = std::max(1.0, work / kWorkPerThread);
  if (worth < execution.n_threads) execution.n_threads = static_cast<int>(worth);
  return execution;
}

bool has_openmp() {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

void parallel_for(const Execution& execution, index_t n_tasks,
                  const std::function<void(index_t)>& task) {
  LoopState state(execution);
#ifdef _OPENMP
  const int n_threads = static_cast<int>(std::min<index_t>(execution.n_threads, n_tasks));
  if (n_threads > 1 && !forked_child) {
    watch_for_fork();
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
    for (index_t i = 0; i < n_tasks; ++i) state.run(i, task, omp_get_thread_num() == 0);
    state.rethrow();
    return;
  }
#endif
  for (index_t i = 0; i < n_tasks; ++i) state.run(i, task, true);
  state.rethrow();
}

Partition partition_range(index_t size, index_t min_length, index_t max_parts) {
  const index_t n_parts = std::min(max_parts, size / std::max<index_t>(min_length, 1));
  return {size, std::max<index_t>(n_parts, 1)};
}

}  // namespace fctree
