// The processor time of tasks, for benchmarks that ask what more threads would bring.
//
// If the environment variable FCTREE_TASK_LOG names a file, loops run on the calling thread, however many
// threads they are given. When the process ends, each module of compiled code appends to the file a line with
// the seconds that reading the clock takes (every task and every stretch between two loops includes one
// reading) and the seconds that the log itself took; then one line for each loop: the type of its task, which
// says where the loop is, the most threads that it may use, whether it is a further phase of the loop before,
// the seconds between the two, and those of its tasks in order. Loops inside tasks count as part of these.
#pragma once

#include <functional>

#include "core/types.hpp"

namespace fctree {

struct LoggedLoop {
  const char* task_type;
  int n_threads;
  bool follows;  // the phase before it, without waking threads
};

bool is_logging_tasks();

// Runs the tasks in order and appends the line.
void run_logged(const LoggedLoop& loop, index_t n_tasks, const std::function<void(index_t)>& task);

}  // namespace fctree
