#include "oblique/split_search/directions.hpp"

namespace fctree::oblique {

using Search = std::unique_ptr<DirectionSearch>(const GrowState&, SplitKind,
                                                const std::vector<OpenNode*>&);
// One declaration and one entry a kind.
Search search_ridge_directions;
Search search_curvature_directions;
Search search_axes;

const std::vector<DirectionKind>& direction_kinds() {
  static const std::vector<DirectionKind> all = {
      {"ridge", search_ridge_directions},
      {"curvature", search_curvature_directions},
      {"axis", search_axes},
  };
  return all;
}

void DirectionSearch::propose(index_t i) {
  for (index_t c = 0; c < found(i).cols(); ++c) add_candidate(i, c);
}

}  // namespace fctree::oblique
