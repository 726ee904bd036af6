#include "ensembles/learning_rate.hpp"

#include <algorithm>

#include "ensembles/left_out_steps.hpp"

namespace fctree::ensembles {

namespace {

constexpr double kFirst = 0.05;
constexpr index_t kRounds = 50;  // from one judgement to the next
// Out of bag, the best multiple of the steps of these rounds: above it the rate is doubled. Long steps cost more where
// second derivatives depend on the scores, above all with few samples. What the rate has doubled itself may be doubled for
// less, since the samples left out have been in more and more bags.
constexpr double kHolds = 0.2;
constexpr double kHoldsOfBent[] = {0.8, 0.45};  // of up to so many samples, and at least
constexpr double kHoldsOfBentAgain[] = {0.5, 0.25};
constexpr double kFewSamples = 500.0;
// Of a single score, steps that do not hold so well at first, but still do later, are doubled once.
constexpr double kHoldsOfBentLate = 0.05;
constexpr index_t kLastOfBent = 200;  // rounds
// Where one tree serves several scores and steps still bring so much of what those of the last rounds did, too few rounds are
// left for the rate: at first this share over the number of scores. But some of the steps' length has to hold.
constexpr double kSteady = 0.5;
constexpr double kSteadyAgain = 0.125;
constexpr double kHoldsLeast = 0.1;
constexpr index_t kMostDoubled = 3;

}  // namespace

LearningRate::LearningRate(double constant, index_t n_samples, const Loss& loss)
    : rate_(constant > 0.0 ? constant : kFirst * loss.step_length()), may_grow_(!(constant > 0.0)),
      bends_(loss.has_hessian()),
      share_of_few_(std::min(1.0, kFewSamples / static_cast<double>(std::max<index_t>(n_samples, 1)))) {}

void LearningRate::judge(index_t n_rounds, const std::vector<StepTerms>& steps) {
  if (!may_grow_ || n_rounds % kRounds != 0) return;
  StepTerms sums;
  for (const StepTerms& terms : steps) sums.add(terms);
  const StepTerms last = recent_;
  recent_ = {sums.decrease - sums_.decrease, sums.curvature - sums_.curvature};
  sums_ = sums;
  if (n_rounds <= kRounds) return;  // almost any step holds at first
  const auto hold = [&](double multiple) { return recent_.decrease > multiple * recent_.curvature; };
  const bool is_first = n_doubled_ == 0;
  const double n_scores = static_cast<double>(steps.size()) / kStepKinds;
  const double steady = is_first ? kSteady / n_scores : kSteadyAgain;
  const bool is_steady = n_scores > 1.0 && hold(kHoldsLeast) && recent_.decrease > steady * last.decrease;
  const bool is_late = is_first && n_rounds > 2 * kRounds;
  const auto& of_bent = is_first ? kHoldsOfBent : kHoldsOfBentAgain;
  const double least = is_late ? kHoldsOfBentLate : bends_ ? std::max(of_bent[0] * share_of_few_, of_bent[1]) : kHolds;
  const bool grows = is_steady || hold(least);
  if (grows) {
    rate_ *= 2.0;
    ++n_doubled_;
  }
  if (is_late)
    may_grow_ = !grows && n_rounds < kLastOfBent;
  else
    may_grow_ = grows ? n_doubled_ < kMostDoubled : is_first && bends_ && n_scores == 1.0;
}

}  // namespace fctree::ensembles
