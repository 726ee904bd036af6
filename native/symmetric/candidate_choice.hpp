// Choice of a level's candidate: the best score after noise.
//
//   normal   s + N(0, (strength * RMS(r) * q / (1 + q))^2), q = n exp(-L), L the iteration
//            times the learning rate: CatBoost's noise, which fades as the model grows. s is the
//            cosine score or the square root of the l2 score, about RMS(r) sqrt(n) both: added to
//            the l2 score itself, of the order RMS(r)^2 n, the noise would depend on y's units.
//   gumbel   score / n + strength * Gumbel, used candidates excluded: an exact draw
//            from the softmax of score / (n * strength) (SampleTree: Ustimenko,
//            Beliakov and Prokhorenkova, 2023).
//
// Each candidate's noise is a function of (seed, iteration, level, candidate). It is drawn only
// for candidates that the largest noise could make the best: the choice is the same as with all
// draws. Features are searched side by side, and tell each other the best that they have found. Of most
// draws the first word, which many candidates find together, says that they are too small.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "core/rng.hpp"
#include "symmetric/level_scores.hpp"

namespace fctree::symmetric {

// Parameters of the noise of one tree.
struct NoiseScale {
  index_t iteration;
  double strength;
  double gradient_rms;  // root mean square of the gradients
  double total_weight;  // n
};

class CandidateChoice {
 public:
  CandidateChoice(const BinnedMatrix& x, const BoostingParams& params);

  // Appends the loops of noise on the level below `above`, all kept by reference.
  void search(const LevelScores& scores, const NoiseScale& noise, const std::vector<LevelSplit>& above,
              const Execution& execution, std::vector<Phase>& phases);
  // The candidate that is found after these, or none if nothing can be split.
  std::optional<LevelSplit> found(const LevelScores& scores, const std::vector<LevelSplit>& above);

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
  bool is_gumbel() const { return params_.score_noise == ScoreNoise::gumbel; }
  double largest_draw() const { return is_gumbel() ? Random::kLargestGumbel : Random::kLargestNormal; }
  double noise_unit(const NoiseScale& noise) const;
  // Of the first candidate of a feature; the others follow, kCellLanes apart.
  const double* scores_of(const LevelScores& scores, index_t feature) const;
  double least_of_best(const LevelScores& scores) const;
  // Replaces `best` by the candidate of a feature with the highest value(score, feature, code, highest
  // so far), codes in ascending order, if that exceeds it by more than `tie` of it. A
  // value that cannot win need not be exact.
  template <class Value>
  void find_highest(const LevelScores& scores, index_t feature, const Search& search,
                    const Value& value, Best& best) const;
  Best highest_score(const LevelScores& scores, const std::vector<LevelSplit>& used) const;
  double highest_of(const LevelScores& scores, index_t feature) const;
  // The noise, in its units, with which a score reaches another; rounded down.
  double draw_needed(double so_far, double score) const;
  // A candidate's score with noise, -inf for one that does not reach `so_far`.
  double with_noise(const NoiseScale& noise, index_t level, const Best& plain, double so_far) const;
  void find_plain(const LevelScores& scores, const std::vector<LevelSplit>& above);
  void start_noise(const NoiseScale& noise, index_t level);
  Best highest_with_noise(const LevelScores& scores, const NoiseScale& noise,
                          const std::vector<LevelSplit>& above, const CodeRange& features);
  void tell(double score);

  const BinnedMatrix& x_;
  const BoostingParams& params_;
  Random random_;
  std::vector<std::uint32_t> first_candidate_;  // of each feature
  // Of the level.
  double unit_ = 0.0;  // of the noise
  Best plain_ = {};    // the highest without noise
  double least_ = 0.0;  // that a score must reach to be the highest with noise
  std::atomic<double> told_{0.0};  // a bound of the highest score with noise from below
  std::vector<Best> noisy_;  // the highest with noise, of each task
};

}  // namespace fctree::symmetric
