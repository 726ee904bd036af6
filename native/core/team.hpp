// The threads of a team: how they wait for loops, and for each other.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "core/types.hpp"

namespace fctree {

// How often a calling thread that waits looks whether it is to stop.
constexpr std::chrono::milliseconds kPollInterval{50};

// Loops and phases follow each other closely: before a thread sleeps it looks a few times whether the next
// one has come, yielding its core in between.
template <class Condition>
void linger(const Condition& condition) {
  constexpr int kLooks = 64;
  for (int i = 0; i < kLooks && !condition(); ++i) std::this_thread::yield();
}

// Workers and the loop they may help with. The calling thread opens a loop, works on it itself, closes it
// to newcomers, and waits for those who have joined. Threads that look out for each other meet in one
// atomic word; the mutex is for those that sleep.
class Team {
 public:
  // The main loop of a worker.
  void work();

  // Sends all workers home, once no loop is open.
  void dismiss();

  // take_tasks(in_calling_thread) runs tasks, n_tasks at once at most, until none is left to take; neither it nor
  // poll, called a few times a second while the last tasks end, throws.
  void run(const std::function<void(bool)>& take_tasks, index_t n_tasks, const std::function<void()>& poll);

 private:
  // A state is the number of helpers, whether a loop is open, and how many have been opened.
  static constexpr std::uint64_t kOpen = 1 << 16, kHelpers = kOpen - 1, kNext = 2 * kOpen;
  static std::uint64_t number_of(std::uint64_t state) { return state / kNext; }

  // Sees to it that so many workers are awake.
  void wake(index_t n_wanted);

  // Becomes a helper of the loop that is open, if one is, and tells the state before.
  bool join(std::uint64_t& state);

  void leave();

  std::atomic<std::uint64_t> state_{0};
  const std::function<void(bool)>* loop_ = nullptr;
  std::atomic<bool> dismissed_{false};
  std::atomic<bool> waits_{false};  // the calling thread, for helpers
  std::atomic<int> n_workers_{0}, n_asleep_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
};

}  // namespace fctree
