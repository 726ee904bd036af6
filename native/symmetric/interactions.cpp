#include "symmetric/interactions.hpp"

#include <algorithm>

namespace fctree::symmetric {

void InteractionLimits::keep_members(std::vector<std::uint8_t>& allowed) const {
  if (rules_.n_sets == 0) return;
  std::vector<std::uint8_t> member(rules_.n_columns, 0);
  for (const std::uint8_t* set : open_)
    for (index_t c = 0; c < rules_.n_columns; ++c) member[c] |= set[c];
  for (std::size_t f = 0; f < allowed.size(); ++f) allowed[f] &= member[rules_.column[f]];
}

void InteractionLimits::restart(std::vector<std::uint8_t>& allowed) {
  if (rules_.column == nullptr) return;
  used_.clear();
  open_.clear();
  for (index_t s = 0; s < rules_.n_sets; ++s) open_.push_back(rules_.sets + s * rules_.n_columns);
  keep_members(allowed);
}

void InteractionLimits::descend(index_t feature, std::vector<std::uint8_t>& allowed) {
  if (rules_.column == nullptr) return;
  const index_t column = rules_.column[feature];
  if (std::find(used_.begin(), used_.end(), column) != used_.end()) return;
  used_.push_back(column);
  const auto lacks_column = [column](const std::uint8_t* set) { return set[column] == 0; };
  open_.erase(std::remove_if(open_.begin(), open_.end(), lacks_column), open_.end());
  keep_members(allowed);
  if (static_cast<index_t>(used_.size()) != rules_.max_columns) return;
  for (std::size_t f = 0; f < allowed.size(); ++f)
    allowed[f] &= std::find(used_.begin(), used_.end(), rules_.column[f]) != used_.end();
}

}  // namespace fctree::symmetric
