// The gains of the trees of a round, and the choice of the one that is kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ensembles/boosting_statistics.hpp"

namespace fctree::ensembles {

// By how much a tree's step lowers the mean loss of the rows that it was not grown on, and of those that it was.
struct StepGain {
  double left_out;
  double in_bag;

  // The gain on other rows, as a share of the gain in the bag.
  double share() const {
    if (!(left_out > 0.0)) return 0.0;
    return left_out < in_bag ? left_out / in_bag : 1.0;
  }
};

// The number of the tree to keep. Loss that a tree removes in the bag is lost to later trees too; of what is left they are expected
// to carry over to other rows the largest share that any of these trees carries over.
inline index_t best_of(const std::vector<StepGain>& gains) {
  double share = 0.0;
  for (const StepGain& gain : gains) share = std::max(share, gain.share());
  const auto value = [&](const StepGain& gain) { return gain.left_out - share * share * gain.in_bag; };
  index_t best = 0;
  for (index_t at = 1; at < static_cast<index_t>(gains.size()); ++at)
    if (value(gains[at]) > value(gains[best])) best = at;
  return best;
}

// The gains of trees that were grown on the same rows, from the scores that the samples have now.
class StepGains {
 public:
  StepGains(const BoostedSet& set, const Loss& loss, const std::vector<std::uint8_t>& in_bag, BoostingStatistics& statistics,
            const Execution& execution)
      : set_(set), loss_(loss), left_out_(in_bag.size()), statistics_(statistics), execution_(execution) {
    for (std::size_t i = 0; i < in_bag.size(); ++i) left_out_[i] = in_bag[i] == 0;
    before_ = {mean_loss(in_bag), mean_loss(left_out_)};
  }

  // Of a tree, whose step on the rows left out has these sums.
  StepGain of(const ObliqueTreesArrays& tree, const StepSums& left_out, const Derivatives& derivatives) const {
    const StepSums in_bag = statistics_.left_out_step(set_, loss_, {tree, left_out_, derivatives}, execution_);
    return {left_out.gain(loss_, before_.left_out), in_bag.gain(loss_, before_.in_bag)};
  }

 private:
  // Of the rows that are not in this bag.
  double mean_loss(const std::vector<std::uint8_t>& bag) const {
    if (!loss_.has_value()) return 0.0;
    const LossSum sum = statistics_.evaluate_left_out(set_, loss_, bag, execution_);
    return sum.loss.scaled / sum.weight;
  }

  const BoostedSet& set_;
  const Loss& loss_;
  std::vector<std::uint8_t> left_out_;
  BoostingStatistics& statistics_;
  const Execution& execution_;
  StepGain before_;
};

}  // namespace fctree::ensembles
