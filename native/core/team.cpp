#include "core/team.hpp"

#include <algorithm>

namespace fctree {

void Team::work() {
  ++n_workers_;
  std::uint64_t seen = 0;
  const auto is_wanted = [&] { return number_of(state_) != seen || dismissed_; };
  for (;;) {
    linger(is_wanted);
    if (!is_wanted()) {
      std::unique_lock<std::mutex> lock(mutex_);
      ++n_asleep_;
      wake_.wait(lock, is_wanted);
      --n_asleep_;
    }
    if (dismissed_) return;
    std::uint64_t state = state_;
    const bool has_joined = join(state);
    seen = number_of(state);
    if (!has_joined) continue;
    (*loop_)(false);
    leave();
  }
}

void Team::dismiss() {
  const std::lock_guard<std::mutex> lock(mutex_);
  dismissed_ = true;
  wake_.notify_all();
}

void Team::run(const std::function<void(bool)>& take_tasks, index_t n_tasks, const std::function<void()>& poll) {
  loop_ = &take_tasks;
  state_ += kOpen + kNext;
  wake(n_tasks - 1);
  take_tasks(true);
  state_ -= kOpen;
  const auto is_alone = [&] { return (state_ & kHelpers) == 0; };
  linger(is_alone);
  if (is_alone()) return;
  std::unique_lock<std::mutex> lock(mutex_);
  waits_ = true;
  while (!idle_.wait_for(lock, kPollInterval, is_alone)) {
    lock.unlock();
    poll();
    lock.lock();
  }
  waits_ = false;
}

void Team::wake(index_t n_wanted) {
  const int n_asleep = n_asleep_;
  const index_t n_missing = std::min<index_t>(n_wanted - (n_workers_ - n_asleep), n_asleep);
  if (n_missing <= 0) return;
  // A worker that has just looked for work in vain is asleep once this lock is free.
  { const std::lock_guard<std::mutex> lock(mutex_); }
  if (n_missing == n_asleep) return wake_.notify_all();
  for (index_t i = 0; i < n_missing; ++i) wake_.notify_one();
}

bool Team::join(std::uint64_t& state) {
  while ((state & kOpen) != 0)
    if (state_.compare_exchange_weak(state, state + 1)) return true;
  return false;
}

void Team::leave() {
  if ((--state_ & kHelpers) != 0 || !waits_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.notify_one();
}

}  // namespace fctree
