#include "core/block_sums.hpp"

namespace fctree {

namespace {

constexpr index_t kTasksPerThread = 4;

// Adds up a piece: its right half to its left one.
class PieceSum {
 public:
  PieceSum(const RowBlocks& blocks, const AddBlock& add, index_t item, index_t item_size)
      : end_(blocks.first + blocks.n_here), add_(add), item_(item), item_size_(item_size) {}

  void sum(const Piece& piece, double* out) const {
    if (piece.size == 1) {
      add_(item_, piece.begin, out);
      return;
    }
    const index_t half = piece.size / 2;
    sum({piece.begin, half}, out);
    if (piece.begin + half >= end_) return;
    std::vector<double> right(item_size_, 0.0);
    sum({piece.begin + half, half}, right.data());
    for (index_t i = 0; i < item_size_; ++i) out[i] += right[i];
  }

 private:
  index_t end_;
  const AddBlock& add_;
  index_t item_;
  index_t item_size_;
};

// The pieces cut into smaller ones, until there are enough for all threads.
std::vector<Piece> finer(const RowBlocks& blocks, index_t wanted) {
  std::vector<Piece> pieces = blocks.pieces;
  const index_t end = blocks.first + blocks.n_here;
  while (!pieces.empty() && static_cast<index_t>(pieces.size()) < wanted) {
    std::vector<Piece> halves;
    for (const Piece& piece : pieces) {
      const index_t half = piece.size / 2;
      if (half == 0) {
        halves.push_back(piece);
        continue;
      }
      halves.push_back({piece.begin, half});
      if (piece.begin + half < end) halves.push_back({piece.begin + half, half});
    }
    if (halves.size() == pieces.size() && halves.back().size == pieces.back().size) break;
    pieces = std::move(halves);
  }
  return pieces;
}

// Joins sums of finer pieces, in their order, to those of a piece; `next` is the first of them.
void join(const Piece& piece, const std::vector<Piece>& parts, index_t end, double* sums,
          index_t length, std::size_t& next) {
  if (parts[next].size == piece.size) {
    ++next;
    return;
  }
  const index_t half = piece.size / 2;
  double* left = sums + next * length;
  join({piece.begin, half}, parts, end, sums, length, next);
  if (piece.begin + half >= end) return;
  const double* right = sums + next * length;
  join({piece.begin + half, half}, parts, end, sums, length, next);
  for (index_t i = 0; i < length; ++i) left[i] += right[i];
}

}  // namespace

std::vector<double> sum_blocks(const RowBlocks& blocks, const SumShape& shape,
                               const AddBlock& add, const Execution& execution) {
  const index_t n_items = shape.n_items;
  const index_t wanted =
      kTasksPerThread * execution.n_threads / std::max<index_t>(n_items, 1) + 1;
  const std::vector<Piece> parts =
      execution.n_threads == 1 ? blocks.pieces : finer(blocks, wanted);
  const index_t length = n_items * shape.item_size;
  std::vector<double> sums(parts.size() * length, 0.0);
  parallel_for(execution, static_cast<index_t>(parts.size()) * n_items, [&](index_t t) {
    const index_t part = t / n_items, item = t % n_items;
    PieceSum(blocks, add, item, shape.item_size)
        .sum(parts[part], sums.data() + part * length + item * shape.item_size);
  });
  std::vector<double> found(blocks.pieces.size() * length);
  std::size_t next = 0;
  for (std::size_t p = 0; p < blocks.pieces.size(); ++p) {
    const std::size_t first = next;
    join(blocks.pieces[p], parts, blocks.first + blocks.n_here, sums.data(), length, next);
    std::copy_n(sums.data() + first * length, length, found.data() + p * length);
  }
  if (execution.all != nullptr) {
    found.resize(std::max<std::size_t>(found.size(), length));
    Reduction reduction;
    reduction.block_sums = found.data();
    reduction.n_block_sums = length;
    reduction.pieces = blocks.pieces.data();
    reduction.n_pieces = static_cast<index_t>(blocks.pieces.size());
    reduction.n_blocks = blocks.n_blocks;
    execution.all->reduce(reduction);
  }
  found.resize(length);
  return found;
}

}  // namespace fctree
