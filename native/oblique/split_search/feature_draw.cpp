#include "oblique/split_search/feature_draw.hpp"

#include <algorithm>
#include <utility>

namespace fctree::oblique {

std::vector<index_t> choose_features(const Random& random, const std::array<index_t, 2>& at,
                                     index_t n_chosen, index_t n_features) {
  std::vector<std::pair<std::uint32_t, index_t>> keys;
  for (index_t j = 0; j < n_features; ++j)
    keys.push_back({random.words(static_cast<std::uint32_t>(at[0]),
                                 static_cast<std::uint32_t>(at[1]),
                                 static_cast<std::uint32_t>(j))[0], j});
  std::sort(keys.begin(), keys.end());
  std::vector<index_t> chosen;
  for (index_t i = 0; i < std::min(std::max<index_t>(n_chosen, 1), n_features); ++i)
    chosen.push_back(keys[i].second);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace fctree::oblique
