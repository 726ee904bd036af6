#include "core/task_log.hpp"

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <vector>

namespace fctree {

namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Written when the process ends, so that writing is not among what is timed.
class TaskLog {
 public:
  explicit TaskLog(const char* path) : path_(path) {}
  ~TaskLog() {
    if (loops_.empty()) return;
    std::ofstream file(path_, std::ios::app);
    for (const std::vector<double>& loop : loops_) {
      for (const double number : loop) file << number << ' ';
      file << '\n';
    }
  }
  TaskLog(const TaskLog&) = delete;
  TaskLog& operator=(const TaskLog&) = delete;

  bool is_open() const { return path_ != nullptr; }

  void run(int n_threads, index_t n_tasks, const std::function<void(index_t)>& task) {
    const bool is_outermost = !is_inside_;
    is_inside_ = true;
    std::vector<double> loop = {static_cast<double>(n_threads)};
    double begin = processor_seconds();
    for (index_t i = 0; i < n_tasks; ++i) {
      task(i);
      const double end = processor_seconds();
      loop.push_back(end - begin);
      begin = end;
    }
    if (!is_outermost) return;
    loops_.push_back(std::move(loop));
    is_inside_ = false;
  }

 private:
  const char* path_;
  bool is_inside_ = false;
  std::vector<std::vector<double>> loops_;
};

TaskLog& task_log() {
  static TaskLog log(std::getenv("FCTREE_TASK_LOG"));
  return log;
}

}  // namespace

bool is_logging_tasks() { return task_log().is_open(); }

void run_logged(int n_threads, index_t n_tasks, const std::function<void(index_t)>& task) {
  task_log().run(n_threads, n_tasks, task);
}

}  // namespace fctree
