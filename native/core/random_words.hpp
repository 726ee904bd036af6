// Many words of the random numbers of core/rng.hpp at a time.
#pragma once

#include <cstdint>

namespace fctree {

// Philox4x32-10.
constexpr int kPhiloxRounds = 10;
constexpr std::uint32_t kPhiloxFactors[] = {0xD2511F53u, 0xCD9E8D57u};
constexpr std::uint32_t kPhiloxKeySteps[] = {0x9E3779B9u, 0xBB67AE85u};

// The key of the generator, and the first of the counters.
struct RandomAddress {
  std::uint32_t key[2];
  std::uint32_t counter[4];
};

struct RandomKernels {
  // words[i] = the first of the four words at the counter with i more in its third place, i < n.
  void (*first_words)(const RandomAddress& address, std::int64_t n, std::uint32_t* words);
  // The same with the halves of places[i], the low one first, in the second and the third place.
  void (*first_words_at)(const RandomAddress& address, const std::uint64_t* places, std::int64_t n,
                         std::uint32_t* words);
};

const RandomKernels& random_kernels();

}  // namespace fctree
