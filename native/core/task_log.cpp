#include "core/task_log.hpp"

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <vector>

namespace fctree {

namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double seconds_of_looking() {
  constexpr int kLooks = 10000;
  const double begin = processor_seconds();
  for (int i = 1; i < kLooks; ++i) processor_seconds();
  return (processor_seconds() - begin) / kLooks;
}

// Written when the process ends, so that writing is not among what is timed.
class TaskLog {
 public:
  explicit TaskLog(const char* path) : path_(path) {}
  ~TaskLog() {
    if (lines_.empty()) return;
    std::ofstream file(path_, std::ios::app);
    file << seconds_of_looking() << ' ' << own_seconds_ << '\n';
    for (const Line& line : lines_) {
      file << line.loop.task_type << ' ' << line.loop.n_threads << ' ' << line.loop.follows << ' '
           << line.seconds_before;
      for (const double seconds : line.seconds) file << ' ' << seconds;
      file << '\n';
    }
  }
  TaskLog(const TaskLog&) = delete;
  TaskLog& operator=(const TaskLog&) = delete;

  bool is_open() const { return path_ != nullptr; }

  void run(const LoggedLoop& loop, index_t n_tasks, const std::function<void(index_t)>& task) {
    if (is_inside_) {
      for (index_t i = 0; i < n_tasks; ++i) task(i);
      return;
    }
    is_inside_ = true;
    const double entered = processor_seconds();
    Line line = {loop, entered - ended_, {}};
    line.seconds.reserve(n_tasks);
    double begin = processor_seconds();
    own_seconds_ += begin - entered;
    for (index_t i = 0; i < n_tasks; ++i) {
      task(i);
      const double end = processor_seconds();
      line.seconds.push_back(end - begin);
      begin = end;
    }
    lines_.push_back(std::move(line));
    is_inside_ = false;
    ended_ = processor_seconds();
    own_seconds_ += ended_ - begin;
  }

 private:
  struct Line {
    LoggedLoop loop;
    double seconds_before;  // since the last loop
    std::vector<double> seconds;
  };

  const char* path_;
  bool is_inside_ = false;
  double ended_ = 0.0;
  double own_seconds_ = 0.0;  // of writing lines
  std::vector<Line> lines_;
};

TaskLog& task_log() {
  static TaskLog log(std::getenv("FCTREE_TASK_LOG"));
  return log;
}

}  // namespace

bool is_logging_tasks() { return task_log().is_open(); }

void run_logged(const LoggedLoop& loop, index_t n_tasks, const std::function<void(index_t)>& task) {
  task_log().run(loop, n_tasks, task);
}

}  // namespace fctree
