// The steady clock to within a few milliseconds, read in a fraction of the time: reading it exactly takes
// longer than many small loops.
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
