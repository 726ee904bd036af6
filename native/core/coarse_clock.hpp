// The steady clock to some milliseconds, in a fraction of the time: many small loops are shorter than to read it exactly.
#pragma once

#include <chrono>
#include <ctime>

namespace fctree {

using Clock = std::chrono::steady_clock;

inline Clock::time_point about_now() {
#ifdef CLOCK_MONOTONIC_COARSE
  timespec now;
  if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0)
    return Clock::time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
#endif
  return Clock::now();
}

}  // namespace fctree
