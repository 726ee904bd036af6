// Choice of a level's candidate: the best score after noise.
//
//   normal   s + N(0, (random_strength * RMS(r) * q / (1 + q))^2), q = n exp(-L), L the iteration
//            times the learning rate: CatBoost's noise, which fades as the model grows. s is the
//            cosine score or the square root of the l2 score, about RMS(r) sqrt(n) both: added to
// the l2 score itself, of the order RMS(r)^2 n, the noise would depend on y's units.
//   gumbel   score / n + random_strength * Gumbel, used candidates excluded: an exact draw
//            from the softmax of score / (n * random_strength) (SampleTree: Ustimenko,
//            Beliakov and Prokhorenkova, 2023).
//
// Each candidate's noise is a function of (seed, iteration, level, candidate). It is drawn only
// for candidates that the largest noise could make the best: the choice is the same as with all
// draws. Features are searched side by side.
#pragma once

#include <optional>
#include <vector>

#include "core/rng.hpp"
#include "symmetric/level_scores.hpp"

namespace fctree::symmetric {

// Parameters of the noise of one tree.
struct NoiseScale {
  index_t iteration;
  double gradient_rms;  // root mean square of the gradients
  double total_weight;  // n
};

class CandidateChoice {
 public:
  CandidateChoice(const BinnedMatrix& x, const BoostingParams& params);

  // The candidate for this level below `above`, or none if nothing can be split.
  std::optional<LevelSplit> choose(const LevelScores& scores, const NoiseScale& noise,
                                   const std::vector<LevelSplit>& above,
                                   const Execution& execution) const;

 private:
  struct Best {
    double score;
    index_t feature;
    index_t code;
  };
  struct Search {
    const std::vector<LevelSplit>& used;  // excluded
    double least;  // scores below cannot win
    double tie;
  };
  double least_of_best(const LevelScores& scores) const;
  // Replaces `best` by the candidate of a group with the highest value(score, feature, code, highest
  // so far), features and codes in ascending order, if that exceeds it by more than `tie` of it. A
  // value that cannot win need not be exact.
  template <class Value>
  void find_highest(const LevelScores& scores, index_t g, const Search& search, const Value& value,
                    Best& best) const;
  Best highest_score(const LevelScores& scores, const std::vector<LevelSplit>& used) const;
  Best highest_with_noise(const LevelScores& scores, const NoiseScale& noise, double unit,
                          const std::vector<LevelSplit>& above, const Best& best,
                          const Execution& execution) const;

  const BinnedMatrix& x_;
  const BoostingParams& params_;
  Random random_;
  std::vector<std::uint32_t> first_candidate_;  // of each feature
};

}  // namespace fctree::symmetric
