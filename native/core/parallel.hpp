// Parallel loops. This header and its source hold the only OpenMP of the core.
//
// Work is a list of tasks that the caller cuts by the data alone, never by the number of
// threads, and whose results it merges in task order: so results are the same bytes for
// any thread count. An exception in a task ends the loop and is rethrown in the calling thread
// (that of the lowest task index, if several throw).
//
// The threads of a team are one OpenMP region that lives as long as one native call (with_team):
// nothing is left behind that a child made by fork() could miss or an ending interpreter could trip
// over. Builds without OpenMP start plain threads instead, which is also what the thread sanitizer
// understands. Where the system refuses to start a thread the team is smaller. Threads sleep between
// the loops; a loop waits for tasks that have begun, never for threads: a worker that the
// operating system does not let run costs its help and nothing else, where a barrier for each loop would
// keep everybody waiting, and spinning, on a busy machine.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "core/types.hpp"

namespace fctree {

struct Collective;
class Team;

// How a computation runs. `interrupted`, if set, is polled from the calling thread some twenty times a
// second; when it returns true, the loop stops and throws Interrupted.
struct Execution {
  int n_threads = 1;
  bool (*interrupted)() = nullptr;
  Team* team = nullptr;  // the available threads, set by with_team
  const Collective* all = nullptr;  // the other places that samples are in (collective.hpp)

  Execution on_one_thread() const { return {1, interrupted}; }
};

// Calls body with a team of up to n_threads threads, the calling one included, for the
// loops inside it; with the team that there is, if there is one.
void with_team(const Execution& execution, const std::function<void(const Execution&)>& body);

// The same with fewer threads if a loop's work, in multiply-adds, does not justify starting more, or with one if
// it does not justify waking the team. Results do not depend on it.
Execution limit_threads(Execution execution, double work);

// Calls task(0) .. task(n_tasks - 1), each once, in any order, on the team's threads, or
// without a team on one of its own. Serial where n_threads is 1.
void parallel_for(const Execution& execution, index_t n_tasks,
                  const std::function<void(index_t)>& task);

// Some of the tasks of a loop.
struct Phase {
  index_t n_tasks;
  std::function<void(index_t)> task;
};

// One loop after the other: the tasks of a phase begin when all those of the one before are done. Threads are
// woken once, and between two phases look for the next one before they sleep.
void parallel_phases(const Execution& execution, const std::vector<Phase>& phases);

// Ends the task that calls it, if the loop around it is to stop: for tasks that can take longer than
// 100 ms, between two steps of their work. Cheap, and does nothing outside of a loop.
void check_interrupt();

// A range [0, size) cut into parts of nearly equal length.
struct Partition {
  index_t size = 0;
  index_t n_parts = 0;
  index_t begin(index_t part) const { return size * part / n_parts; }
  index_t end(index_t part) const { return size * (part + 1) / n_parts; }
};

// At least one part, and no part shorter than `min_length` unless there is only one.
Partition partition_range(index_t size, index_t min_length, index_t max_parts);

inline index_t count_parts(index_t size, index_t length) { return (size + length - 1) / length; }

// Calls task(part, begin, end) for parts of `length` of a range [0, size), the last one shorter.
template <class Task>
void for_each_part(const Execution& execution, index_t size, index_t length, const Task& task) {
  parallel_for(execution, count_parts(size, length), [&](index_t part) {
    task(part, part * length, std::min(size, (part + 1) * length));
  });
}

bool has_openmp();

}  // namespace fctree
