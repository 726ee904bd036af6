#include "core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/coarse_clock.hpp"
#include "core/collective.hpp"
#include "core/errors.hpp"
#include "core/task_log.hpp"
#include "core/team.hpp"

namespace fctree {

namespace {

class LoopState;

// The loop whose task this thread is running, and whether the thread is the one that opened it.
struct Running {
  LoopState* loop = nullptr;
  bool in_calling_thread = false;
};
thread_local Running running;

// Thrown to leave a task of a loop that has already stopped for another reason, which is the one to report.
struct Stopped {};

// The state of one loop: whether it must stop, and why. Loops inside of tasks stop with those around them.
class LoopState {
 public:
  explicit LoopState(const Execution& execution)
      : execution_(execution),
        around_(running),
        may_poll_(around_.loop == nullptr ||
                  (around_.in_calling_thread && around_.loop->may_poll_)) {}

  void run(index_t index, const std::function<void(index_t)>& task, bool in_calling_thread) {
    // A stopped loop's tasks are marked as taken, and not run.
    if (stopped_.load(std::memory_order_relaxed)) return;
    const Running before = running;
    running = {this, in_calling_thread};
    try {
      check(in_calling_thread);
      task(index);
    } catch (const Stopped&) {
      stopped_ = cut_short_ = true;
    } catch (...) {
      record(index, std::current_exception());
    }
    running = before;
  }

  // Throws if this loop or one around it is to stop.
  void check(bool in_calling_thread) {
    if (stopped_.load(std::memory_order_relaxed)) throw Stopped();
    if (in_calling_thread && may_poll_) poll();
    if (around_.loop != nullptr) around_.loop->check(false);
  }

  // For the calling thread while it waits for the others: an interrupt stops them.
  void poll_while_waiting() {
    try {
      check(true);
    } catch (const Stopped&) {
      stopped_ = cut_short_ = true;
    } catch (...) {
      record(std::numeric_limits<index_t>::max() - 1, std::current_exception());
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
    if (cut_short_) throw Stopped();
  }

 private:
  void poll() const {
    if (execution_.interrupted == nullptr) return;
    // Kept between loops, so that many short ones together are polled at the same pace.
    thread_local Clock::time_point last_poll{};
    const auto now = about_now();
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
  const Running around_;
  const bool may_poll_;  // the thread that opened this loop is the one that called the core
  std::atomic<bool> stopped_{false};
  std::atomic<bool> cut_short_{false};  // by a loop around this one
  std::mutex mutex_;
  index_t error_index_ = std::numeric_limits<index_t>::max();
  std::exception_ptr error_;
};

}  // namespace

bool has_openmp() {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

Execution limit_threads(Execution execution, double work) {
  constexpr double kWorkPerThread = 5e5;  // a tenth of a millisecond: about the cost of starting a thread
  constexpr double kWorthWaking = 2e5;    // a team, whose threads are woken together
  if (execution.team != nullptr && work >= kWorthWaking) return execution;
  const double worth = execution.team != nullptr ? 1.0 : work / kWorkPerThread;
  execution.n_threads = static_cast<int>(std::clamp<double>(worth, 1.0, execution.n_threads));
  return execution;
}

namespace {

// More threads than this help nobody, and the system may refuse to start them.
int most_threads() {
  constexpr int kAlwaysAllowed = 64;
  return std::max(kAlwaysAllowed, 4 * static_cast<int>(std::thread::hardware_concurrency()));
}

// How many threads more than this one the system lets start, n at most.
int startable_threads(int n) {
  static std::atomic<int> known{0};
  if (n <= known) return n;
  std::vector<std::thread> threads;
  threads.reserve(n);
  std::mutex mutex;
  std::unique_lock<std::mutex> hold(mutex);  // until all of them are there
  try {
    while (static_cast<int>(threads.size()) < n)
      threads.emplace_back([&mutex] { const std::lock_guard<std::mutex> wait(mutex); });
  } catch (const std::system_error&) {
  }
  hold.unlock();
  for (std::thread& thread : threads) thread.join();
  const int started = static_cast<int>(threads.size());
  if (started == n) known = n;
  return started;
}

// Threads that work for a team until this object goes, in whatever way its scope is left: the calling thread
// may end inside of it, which no OpenMP region survives, so that the region is another thread's.
class Workers {
 public:
  Workers(int n, InstructionSet highest) : size_(startable_threads(n)) {
    try {
      threads_.reserve(size_);  // a thread that has started must not be lost for want of memory
#ifdef _OPENMP
      if (size_ > 0)
        threads_.emplace_back([this, highest] {
#pragma omp parallel num_threads(size_)
          work(highest);
        });
#else
      while (static_cast<int>(threads_.size()) < size_)
        threads_.emplace_back([this, highest] { work(highest); });
#endif
    } catch (const std::system_error&) {
      size_ = static_cast<int>(threads_.size());
    }
  }
  ~Workers() {
    team_.dismiss();
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  Team* team() { return &team_; }
  int size() const { return size_; }

 private:
  void work(InstructionSet highest) {
    const InstructionLimit limit(highest);
    team_.work();
  }

  int size_;
  Team team_;
  std::vector<std::thread> threads_;
};

InstructionSet highest_of(const Execution& execution) {
  return execution.all == nullptr ? InstructionSet::avx512 : execution.all->highest;
}

// As a loop of one task, so that check_interrupt() works between the loops of the body too.
void run_whole(const std::function<void(const Execution&)>& body, const Execution& execution) {
  const InstructionLimit limit(highest_of(execution));
  LoopState state(execution);
  state.run(0, [&](index_t) { body(execution); }, true);
  state.rethrow();
}

}  // namespace

void with_team(const Execution& execution, const std::function<void(const Execution&)>& body) {
  if (execution.team != nullptr) return body(execution);
  const int n_threads = std::min(execution.n_threads, most_threads());
  Team asleep;  // of a logged run, which does without threads
  if (is_logging_tasks())
    return run_whole(body, {n_threads, execution.interrupted, n_threads > 1 ? &asleep : nullptr, execution.all});
  if (n_threads > 1) {
    Workers workers(n_threads - 1, highest_of(execution));
    if (workers.size() > 0)
      return run_whole(
          body, {workers.size() + 1, execution.interrupted, workers.team(), execution.all});
  }
  run_whole(body, {1, execution.interrupted, nullptr, execution.all});
}

namespace {

// How many tasks of a loop's phases are done.
class Progress {
 public:
  void finish_one(index_t end_of_phase) {
    if (++n_done_ < end_of_phase || n_waiting_ == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    changed_.notify_all();
  }
  void wait_until(index_t n_done, const std::function<void()>& poll) {
    const auto is_reached = [&] { return n_done_ >= n_done; };
    linger(is_reached);
    if (is_reached()) return;
    ++n_waiting_;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!changed_.wait_for(lock, kPollInterval, is_reached)) {
      lock.unlock();
      poll();
      lock.lock();
    }
    --n_waiting_;
  }

 private:
  std::atomic<index_t> n_done_{0};
  std::atomic<int> n_waiting_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

void run_logged_loop(const Execution& execution, const Phase& phase, bool follows) {
  LoopState state(execution);
  run_logged({phase.task.target_type().name(), execution.n_threads, follows}, phase.n_tasks,
             [&](index_t i) { state.run(i, phase.task, true); });
  state.rethrow();
}

}  // namespace

void parallel_phases(const Execution& execution, const std::vector<Phase>& phases) {
  const bool has_many =
      std::any_of(phases.begin(), phases.end(), [](const Phase& phase) { return phase.n_tasks > 1; });
  if (execution.n_threads == 1 || !has_many) {
    Execution alone = execution;
    alone.n_threads = 1;
    for (const Phase& phase : phases) parallel_for(alone, phase.n_tasks, phase.task);
    return;
  }
  if (is_logging_tasks()) {
    for (const Phase& phase : phases) run_logged_loop(execution, phase, &phase != phases.data());
    return;
  }
  if (execution.team == nullptr) {
    with_team(execution, [&](const Execution& with) { parallel_phases(with, phases); });
    return;
  }
  index_t n_tasks = 0, most_at_once = 0;
  for (const Phase& phase : phases) {
    n_tasks += phase.n_tasks;
    most_at_once = std::max(most_at_once, phase.n_tasks);
  }
  LoopState state(execution);
  Progress progress;
  std::atomic<index_t> next{0};
  const std::function<void(bool)> take_tasks = [&](bool in_calling_thread) {
    const auto poll = [&] {
      if (in_calling_thread) state.poll_while_waiting();
    };
    const Phase* phase = phases.data();
    index_t begin = 0;
    // Tasks are taken in order: those waited for have been taken by threads that work on them.
    for (index_t i = next++; i < n_tasks; i = next++) {
      for (; i >= begin + phase->n_tasks; ++phase) begin += phase->n_tasks;
      progress.wait_until(begin, poll);
      state.run(i, [&](index_t task) { phase->task(task - begin); }, in_calling_thread);
      progress.finish_one(begin + phase->n_tasks);
    }
  };
  execution.team->run(take_tasks, most_at_once, [&] { state.poll_while_waiting(); });
  state.rethrow();
}

void parallel_for(const Execution& execution, index_t n_tasks,
                  const std::function<void(index_t)>& task) {
  const bool is_shared = execution.n_threads > 1 && n_tasks > 1 && !is_logging_tasks();
  if (is_shared && execution.team == nullptr) {
    with_team(execution, [&](const Execution& with) { parallel_for(with, n_tasks, task); });
    return;
  }
  if (is_logging_tasks()) return run_logged_loop(execution, {n_tasks, task}, false);
  LoopState state(execution);
  std::atomic<index_t> next{0};
  const std::function<void(bool)> take_tasks = [&](bool in_calling_thread) {
    for (index_t i = next++; i < n_tasks; i = next++) state.run(i, task, in_calling_thread);
  };
  if (is_shared)
    execution.team->run(take_tasks, n_tasks, [&] { state.poll_while_waiting(); });
  else
    take_tasks(true);
  state.rethrow();
}

void check_interrupt() {
  if (running.loop != nullptr) running.loop->check(running.in_calling_thread);
}

Partition partition_range(index_t size, index_t min_length, index_t max_parts) {
  const index_t n_parts = std::min(max_parts, size / std::max<index_t>(min_length, 1));
  return {size, std::max<index_t>(n_parts, 1)};
}

}  // namespace fctree
