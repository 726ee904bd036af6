#include "oblique/row_work.hpp"

namespace fctree {

CutsByKind cuts_by_kind(const std::vector<CutTask>& tasks) {
  CutsByKind kinds;
  for (const CutTask& task : tasks) {
    const bool is_axis = task.node->candidates[task.candidate].kind == SplitKind::axis;
    (is_axis && task.search == nullptr ? kinds.axes_by_constants : kinds.others).push_back(task);
  }
  return kinds;
}

}  // namespace fctree
