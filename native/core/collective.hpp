// Samples that lie in several places. Every place runs the same program on its own samples, in
// lockstep, and whatever depends on the samples of all goes through one operation, reduce(), from
// which all places get the same bytes: so they take the same decisions, and nobody has to tell
// them.
//
// Where all samples are here there is no collective (null), and the functions below do nothing.
#pragma once

#include <vector>

#include "core/cpu.hpp"
#include "core/types.hpp"

namespace fctree {

// Blocks begin .. begin + size - 1 of all blocks of rows (block_sums.hpp), size a power of two, but
// for those behind the end.
struct Piece {
  index_t begin;
  index_t size;
};

// The numbers of a place; afterwards those of all places together.
struct Reduction {
  std::int64_t* sums = nullptr;  // added up
  index_t n_sums = 0;
  double* largest = nullptr;  // the largest of each
  index_t n_largest = 0;
  // (n_pieces, n_block_sums), or one row without pieces; afterwards the first row, of all blocks.
  double* block_sums = nullptr;
  index_t n_block_sums = 0;
  const Piece* pieces = nullptr;
  index_t n_pieces = 0;
  index_t n_blocks = 0;  // of all places
};

struct Collective {
  // false where places were lost.
  bool (*combine)(void* context, const Reduction& reduction);
  void* context;
  index_t rank;
  index_t n_places;
  InstructionSet highest;  // that all places have

  // Throws Interrupted where places were lost.
  void reduce(const Reduction& reduction) const;
};

void add_up(const Collective* all, std::int64_t* values, index_t n);
void take_largest(const Collective* all, double* values, index_t n);
index_t add_up(const Collective* all, index_t value);
double take_largest(const Collective* all, double value);
// The numbers of all places, place by place.
std::vector<double> gather(const Collective* all, const std::vector<double>& own);

}  // namespace fctree
