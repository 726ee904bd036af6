#include "core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

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
// them, in this library or another: such a child runs every loop in its calling thread
// instead of hanging.
std::atomic<bool> forked_child{false};

#if defined(__unix__) || defined(__APPLE__)
const int watching_for_fork = pthread_atfork(nullptr, nullptr, [] { forked_child = true; });
#endif

// The state of one loop: whether it must stop, and why.
class LoopState {
 public:
  explicit LoopState(const Execution& execution) : execution_(execution) {}

  void run(index_t index, const std::function<void(index_t)>& task, bool in_calling_thread) {
    // A stopped loop's tasks are all taken, and left undone.
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

// Workers and the loop they may help with. The calling thread opens a loop, works on it
// itself, closes it to newcomers, and waits for those who have joined.
class Team {
 public:
  // A worker's life.
  void work() {
    std::uint64_t seen = 0;
    for (;;) {
      linger([&] { return opened_ != seen || dismissed_; });
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return opened_ != seen || dismissed_; });
      if (dismissed_) {
        ++n_gone_;
        idle_.notify_one();
        return;
      }
      seen = opened_;
      if (loop_ == nullptr) continue;
      ++n_helpers_;
      const auto& take_tasks = *loop_;
      lock.unlock();
      take_tasks(false);
      lock.lock();
      if (--n_helpers_ == 0) idle_.notify_one();
    }
  }

  // Waits asleep until all workers have gone: OpenMP's own wait at the end of a region spins,
  // on what may be the very core that a worker has yet to wake up on.
  void dismiss(int n_workers) {
    std::unique_lock<std::mutex> lock(mutex_);
    dismissed_ = true;
    wake_.notify_all();
    idle_.wait(lock, [&] { return n_gone_ == n_workers; });
  }

  // take_tasks(in_calling_thread) runs tasks until none is left to take; it does not throw.
  void run(const std::function<void(bool)>& take_tasks) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      loop_ = &take_tasks;
      ++opened_;
    }
    wake_.notify_all();
    take_tasks(true);
    std::unique_lock<std::mutex> lock(mutex_);
    loop_ = nullptr;
    idle_.wait(lock, [&] { return n_helpers_ == 0; });
  }

 private:
  // Loops follow each other closely: before a worker sleeps it looks a few times more,
  // leaving its core to whoever wants it in between.
  template <class Condition>
  static void linger(const Condition& condition) {
    constexpr int kLooks = 64;
    for (int i = 0; i < kLooks && !condition(); ++i) std::this_thread::yield();
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  const std::function<void(bool)>* loop_ = nullptr;
  int n_helpers_ = 0;
  int n_gone_ = 0;
  std::atomic<std::uint64_t> opened_{0};
  std::atomic<bool> dismissed_{false};
};

Execution limit_threads(Execution execution, double work) {
  constexpr double kWorkPerThread = 5e5;  // a tenth of a millisecond: about what waking takes
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

void with_team(const Execution& execution, const std::function<void(const Execution&)>& body) {
#ifdef _OPENMP
  if (execution.n_threads > 1 && !forked_child) {
    Team team;
    std::exception_ptr error;
#pragma omp parallel num_threads(execution.n_threads)
    {
      if (omp_get_thread_num() == 0) {
        try {
          body({execution.n_threads, execution.interrupted, &team, execution.all});
        } catch (...) {
          error = std::current_exception();
        }
        team.dismiss(omp_get_num_threads() - 1);
      } else {
        team.work();
      }
    }
    if (error) std::rethrow_exception(error);
    return;
  }
#endif
  body({1, execution.interrupted, nullptr, execution.all});
}

void parallel_for(const Execution& execution, index_t n_tasks,
                  const std::function<void(index_t)>& task) {
  if (execution.n_threads > 1 && n_tasks > 1 && execution.team == nullptr) {
    with_team(execution, [&](const Execution& with) { parallel_for(with, n_tasks, task); });
    return;
  }
  LoopState state(execution);
  std::atomic<index_t> next{0};
  const std::function<void(bool)> take_tasks = [&](bool in_calling_thread) {
    for (index_t i = next++; i < n_tasks; i = next++) state.run(i, task, in_calling_thread);
  };
  if (execution.n_threads > 1 && n_tasks > 1)
    execution.team->run(take_tasks);
  else
    take_tasks(true);
  state.rethrow();
}

Partition partition_range(index_t size, index_t min_length, index_t max_parts) {
  const index_t n_parts = std::min(max_parts, size / std::max<index_t>(min_length, 1));
  return {size, std::max<index_t>(n_parts, 1)};
}

}  // namespace fctree
