// Whether equal samples of a table are copies of one another or coincidences.
//
// Samples that are equal because one was copied belong together: a tree that has one of them knows the
// other. In a table of few different rows equal ones are as independent as any others; drawn together, they
// would be in a tree without those of the same features and another target, or left out without them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parallel.hpp"

namespace fctree::ensembles {

// Hashes of each sample's features, and of features and targets.
struct SampleHashes {
  std::vector<std::uint64_t> features;
  std::vector<std::uint64_t> all;
};

// Whether some samples of all places are equal, and more than a twentieth share their features with one of another
// target, or few different samples occur many times on average. Of many different rows a share is looked at, chosen by
// the hashes of their features. O(n).
bool are_coincidences(const SampleHashes& samples, const Execution& execution);

}  // namespace fctree::ensembles
