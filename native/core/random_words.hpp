// Many words of the random numbers of core/rng.hpp at a time.
#pragma once

#include <cstdint>

namespace fctree {

// The key of the generator, and the first of the counters.
struct RandomAddress {
  std::uint32_t key[2];
  std::uint32_t counter[4];
};

struct RandomKernels {
  // words[i] = the first of the four words at the counter with i more in its third place, i < n.
  void (*first_words)(const RandomAddress& address, std::int64_t n, std::uint32_t* words);
};

const RandomKernels& random_kernels();

}  // namespace fctree
