// Which kinds of trees a round grows.
//
// Growing one of each kind and keeping the best costs as much as keeping all. So a kind takes part
// for certain only in the four rounds after one of its trees was kept; then in each eighth.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace fctree::ensembles {

class Turns {
 public:
  explicit Turns(index_t n_kinds) : since_kept_(n_kinds, 1) {}

  // At least the kind that was kept last does.
  bool takes_part(index_t kind) const {
    const index_t rounds = since_kept_[kind];
    return rounds <= 4 || rounds % 8 == 0;
  }
  // At the end of a round. Of a kind that is not known, because a model continued had it: nothing.
  void keep(index_t kind) {
    if (kind < 0 || kind >= static_cast<index_t>(since_kept_.size())) return;
    for (index_t& rounds : since_kept_) ++rounds;
    since_kept_[kind] = 1;
  }

 private:
  std::vector<index_t> since_kept_;  // this round is the first, second, .. after one that kept it
};

}  // namespace fctree::ensembles
