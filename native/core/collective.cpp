#include "core/collective.hpp"

#include <cstring>

#include "core/errors.hpp"

namespace fctree {

void Collective::reduce(const Reduction& reduction) const {
  if (!combine(context, reduction)) throw Interrupted();
}

void add_up(const Collective* all, std::int64_t* values, index_t n) {
  if (all == nullptr) return;
  Reduction reduction;
  reduction.sums = values;
  reduction.n_sums = n;
  all->reduce(reduction);
}

void take_largest(const Collective* all, double* values, index_t n) {
  if (all == nullptr) return;
  Reduction reduction;
  reduction.largest = values;
  reduction.n_largest = n;
  all->reduce(reduction);
}

index_t add_up(const Collective* all, index_t value) {
  std::int64_t sum = value;
  add_up(all, &sum, 1);
  return sum;
}

double take_largest(const Collective* all, double value) {
  take_largest(all, &value, 1);
  return value;
}

// Bits of each number where all others have none: their sum is the number.
std::vector<double> gather(const Collective* all, const std::vector<double>& own) {
  if (all == nullptr) return own;
  std::vector<std::int64_t> lengths(all->n_places, 0);
  lengths[all->rank] = static_cast<std::int64_t>(own.size());
  add_up(all, lengths.data(), all->n_places);
  index_t first = 0, total = 0;
  for (index_t place = 0; place < all->n_places; ++place) {
    if (place == all->rank) first = total;
    total += lengths[place];
  }
  std::vector<std::int64_t> bits(total, 0);
  if (!own.empty()) std::memcpy(bits.data() + first, own.data(), own.size() * sizeof(double));
  add_up(all, bits.data(), total);
  std::vector<double> found(total);
  if (total > 0) std::memcpy(found.data(), bits.data(), total * sizeof(double));
  return found;
}

}  // namespace fctree
