#include "symmetric/sampled_rows.hpp"

#include <algorithm>
#include <cmath>

#include "core/rng.hpp"

namespace fctree::symmetric {

namespace {

constexpr index_t kTaskRows = 4096;
// Of trees of six levels at most, if all rows said as much; for each further level twice as many.
constexpr double kSearchedRows = 16384.0;
constexpr index_t kLevels = 6;
// Beside one, for noise of strength 1: what is read of all rows takes most of the time then.
constexpr double kMoreBlocks = 7.0;

}  // namespace

SampledRows::SampledRows(std::vector<Piece> pieces, const BoostingParams& params)
    : pieces_(std::move(pieces)), params_(params) {
  for (const Piece& piece : pieces_) n_samples_ += piece.size;
  if (params.subsample < 1.0) bag_.resize(n_samples_);
}

index_t SampledRows::choose_one_of(const DerivativeScale& scale) const {
  const bool any_search = params_.random_strength > 0.0 && params_.score_noise == ScoreNoise::normal &&
                          params_.min_samples_leaf == 1 && bag_.empty();
  const index_t more_levels = std::max<index_t>(params_.max_depth - kLevels, 0);
  const double n_wanted = kSearchedRows * std::exp2(static_cast<double>(more_levels));
  const double n = static_cast<double>(scale.n_samples);
  if (!any_search || n < 2.0 * n_wanted) return 1;
  const double strength = std::min(params_.random_strength, 1.0);
  const double most = 1.0 + kMoreBlocks * strength * strength;
  return static_cast<index_t>(std::clamp(scale.share_that_tells() * n / n_wanted, 1.0, most));
}

template <class Draw>
void SampledRows::for_each_stretch(const Execution& execution, std::vector<std::uint8_t>& drawn,
                                   const Draw& draw) const {
  std::uint8_t* of_piece = drawn.data();
  for (const Piece& piece : pieces_) {
    for_each_part(execution, piece.size, kTaskRows, [&](index_t, index_t begin, index_t end) {
      draw(piece.begin + begin, piece.begin + end, of_piece + begin);
    });
    of_piece += piece.size;
  }
}

void SampledRows::draw(index_t iteration, const DerivativeScale& scale, const Execution& execution) {
  const auto round = static_cast<std::uint32_t>(iteration);
  if (!bag_.empty()) {
    const Random random(params_.seed, Purpose::row_sample);
    const double limit = params_.subsample * 0x1p32;
    for_each_stretch(execution, bag_, [&](index_t i, index_t end, std::uint8_t* drawn) {
      while (i < end) {  // four to a block of random numbers
        const auto words = random.words(round, static_cast<std::uint32_t>(i / 4), 0);
        for (const index_t next = std::min(end, (i / 4 + 1) * 4); i < next; ++i) *drawn++ = words[i % 4] < limit;
      }
    });
  }
  one_of_ = choose_one_of(scale);
  if (one_of_ == 1) return;
  const Random random(params_.seed, Purpose::searched_rows);
  searched_.resize(n_samples_);
  for_each_stretch(execution, searched_, [&](index_t i, index_t end, std::uint8_t* drawn) {
    while (i < end) {
      const index_t block = i / kBlockRows, next = std::min(end, (block + 1) * kBlockRows);
      const auto words = random.words(round, static_cast<std::uint32_t>(block / one_of_), 0);
      drawn = std::fill_n(drawn, next - i, static_cast<std::uint8_t>(block % one_of_ == words[0] % one_of_));
      i = next;
    }
  });
}

}  // namespace fctree::symmetric
