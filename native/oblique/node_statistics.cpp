#include "oblique/node_statistics.hpp"

namespace fctree::oblique {

CutsByKind cuts_by_kind(const std::vector<CutTask>& tasks) {
  CutsByKind kinds;
  for (const CutTask& task : tasks) {
    const bool is_axis = task.split().kind == SplitKind::axis;
    (is_axis && task.search == nullptr ? kinds.axes_by_constants : kinds.others).push_back(task);
  }
  return kinds;
}

}  // namespace fctree::oblique
