#include "kernels/gram.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace fctree::kernels {

namespace {

// The tiles of one row of tiles, [first, last).
struct TileStrip {
  index_t row;
  index_t first;
  index_t last;
};

constexpr index_t kTilesPerTask = 8;
// Matrices beyond this size bypass the caches: they would not stay there anyway.
constexpr index_t kStreamedBytes = 32 << 20;

std::vector<TileStrip> cut_into_strips(index_t n_rows, index_t n_columns, bool symmetric) {
  std::vector<TileStrip> strips;
  for (index_t row = 0; row < n_rows; ++row)
    for (index_t first = symmetric ? row : 0; first < n_columns; first += kTilesPerTask)
      strips.push_back({row, first, std::min(first + kTilesPerTask, n_columns)});
  return strips;
}

// Both sides of a Gram matrix, ready for the tile loops.
template <class T>
class PreparedInput {
 public:
  PreparedInput(const GramInput<T>& input, const RowScaling& scaling, const Execution& execution)
      : left_(input.x, scaling, execution) {
    if (input.y.data != nullptr) right_.emplace(input.y, scaling, execution);
  }
  bool symmetric() const { return !right_; }
  const PreparedRows<T>& left() const { return left_; }
  const PreparedRows<T>& right() const { return right_ ? *right_ : left_; }
  double work() const {
    constexpr double kOperationsPerEntry = 60.0;
    return kOperationsPerEntry * left().n_rows() * right().n_rows();
  }

 private:
  PreparedRows<T> left_;
  std::optional<PreparedRows<T>> right_;
};

template <class T>
struct Output {
  T* data;
  index_t stride;
  bool stream;
};

// Writes a finished tile, and mirrored where the matrix is symmetric.
template <class T>
class TileWriter {
 public:
  TileWriter(const PreparedInput<T>& input, index_t row)
      : input_(input), row_(row), mirrored_(kTile * kTile) {}

  void write(const T* tile, const Output<T>& out, index_t column) {
    const index_t i = input_.left().tile_begin(row_), j = input_.right().tile_begin(column);
    const index_t n_rows = input_.left().tile_rows(row_);
    const index_t n_columns = input_.right().tile_rows(column);
    const auto& kernels = tile_kernels<T>();
    kernels.write(tile, n_rows, n_columns,
                  {out.data + i * out.stride + j, out.stride, out.stream});
    if (!input_.symmetric() || column == row_) return;
    kernels.transpose(tile, mirrored_.data());
    kernels.write(mirrored_.data(), n_columns, n_rows,
                  {out.data + j * out.stride + i, out.stride, out.stream});
  }

 private:
  const PreparedInput<T>& input_;
  index_t row_;
  AlignedArray<T> mirrored_;
};

template <class T>
bool worth_streaming(index_t n_rows, index_t n_columns) {
  return n_rows * n_columns * static_cast<index_t>(sizeof(T)) > kStreamedBytes;
}

}  // namespace

template <class T>
void compute_gram(const KernelSpec& spec, const GramInput<T>& input, T* out, index_t stride,
                  const Execution& execution) {
  with_team(execution, [&](const Execution& team) {
    const PreparedInput<T> rows(input, scaling_of(spec.kind, input.scale), team);
    const auto strips =
        cut_into_strips(rows.left().n_tiles(), rows.right().n_tiles(), rows.symmetric());
    const bool stream = worth_streaming<T>(rows.left().n_rows(), rows.right().n_rows());
    parallel_for(limit_threads(team, rows.work()), strips.size(), [&](index_t task) {
      const TileStrip& strip = strips[task];
      TileWriter<T> writer(rows, strip.row);
      AlignedArray<T> tile(kTile * kTile);
      for (index_t column = strip.first; column < strip.last; ++column) {
        tile_kernels<T>().values(spec, rows.left().pair(strip.row, rows.right(), column),
                                 tile.data());
        writer.write(tile.data(), {out, stride, stream}, column);
      }
    });
  });
}

template <class T>
void compute_gram_path(const std::vector<KernelSpec>& specs, const GramInput<T>& input, T* out,
                       const Execution& execution) {
  for (const KernelSpec& spec : specs)
    if (spec.derivative != Derivative::none || normalisation_of(spec.kind) != Normalisation::augmented)
      throw std::invalid_argument("a path needs tree kernels themselves");
  with_team(execution, [&](const Execution& team) {
    const PreparedInput<T> rows(input, {Normalisation::augmented, input.scale}, team);
    const index_t n_x = rows.left().n_rows(), n_y = rows.right().n_rows();
    const auto strips =
        cut_into_strips(rows.left().n_tiles(), rows.right().n_tiles(), rows.symmetric());
    const index_t n_specs = static_cast<index_t>(specs.size());
    const bool stream = worth_streaming<T>(n_specs * n_x, n_y);
    parallel_for(limit_threads(team, rows.work() * specs.size()), strips.size(),
                 [&](index_t task) {
      const TileStrip& strip = strips[task];
      TileWriter<T> writer(rows, strip.row);
      AlignedArray<T> t(kTile * kTile), cotangent(kTile * kTile), tile(kTile * kTile);
      for (index_t column = strip.first; column < strip.last; ++column) {
        tile_kernels<T>().angles(rows.left().pair(strip.row, rows.right(), column), t.data(),
                                 cotangent.data());
        for (index_t k = 0; k < n_specs; ++k) {
          tile_kernels<T>().values_of_angles(specs[k], t.data(), cotangent.data(), tile.data());
          writer.write(tile.data(), {out + k * n_x * n_y, n_y, stream}, column);
        }
      }
    });
  });
}

namespace {

// vectors (n_y, n_vectors) as (n_tiles, n_vectors, kTile), zeros beyond the last row.
template <class T>
AlignedArray<T> pack_vectors(const T* vectors, index_t n_rows, index_t n_vectors) {
  const index_t n_tiles = count_parts(n_rows, kTile);
  AlignedArray<T> packed(n_tiles * n_vectors * kTile);
  for (index_t j = 0; j < n_rows; ++j)
    for (index_t r = 0; r < n_vectors; ++r)
      packed.data()[(j / kTile * n_vectors + r) * kTile + j % kTile] = vectors[j * n_vectors + r];
  return packed;
}

}  // namespace

template <class T>
void multiply_gram(const KernelSpec& spec, const GramInput<T>& input, const T* vectors,
                   index_t n_vectors, T* out, const Execution& execution) {
  with_team(execution, [&](const Execution& team) {
    const PreparedInput<T> rows(input, scaling_of(spec.kind, input.scale), team);
    const index_t n_x = rows.left().n_rows();
    const AlignedArray<T> packed = pack_vectors(vectors, rows.right().n_rows(), n_vectors);
    // Columns are divided too, by the data alone, and their sums added in order: few rows against
    // many columns (landmarks against all samples) keep every thread busy.
    constexpr index_t kColumnTiles = 64;
    const Partition parts = partition_range(rows.right().n_tiles(), kColumnTiles, 64);
    const index_t part_size = n_x * n_vectors;
    AlignedArray<double> sums(parts.n_parts * part_size);
    parallel_for(limit_threads(team, rows.work()), rows.left().n_tiles() * parts.n_parts,
                 [&](index_t task) {
      const index_t row = task / parts.n_parts, part = task % parts.n_parts;
      double* into = sums.data() + part * part_size + rows.left().tile_begin(row) * n_vectors;
      AlignedArray<T> tile(kTile * kTile);
      for (index_t column = parts.begin(part); column < parts.end(part); ++column) {
        tile_kernels<T>().values(spec, rows.left().pair(row, rows.right(), column), tile.data());
        tile_kernels<T>().multiply(tile.data(), rows.left().tile_rows(row),
                                   packed.data() + column * n_vectors * kTile, n_vectors, into);
      }
    });
    for (index_t k = 0; k < part_size; ++k) {
      double total = 0.0;
      for (index_t part = 0; part < parts.n_parts; ++part)
        total += sums.data()[part * part_size + k];
      out[k] = static_cast<T>(total);
    }
  });
}

#define FCTREE_INSTANTIATE(T)                                                                    \
  template void compute_gram<T>(const KernelSpec&, const GramInput<T>&, T*, index_t,             \
                                const Execution&);                                               \
  template void compute_gram_path<T>(const std::vector<KernelSpec>&, const GramInput<T>&, T*,    \
                                     const Execution&);                                          \
  template void multiply_gram<T>(const KernelSpec&, const GramInput<T>&, const T*, index_t, T*,  \
                                 const Execution&);
FCTREE_INSTANTIATE(double)
FCTREE_INSTANTIATE(float)
#undef FCTREE_INSTANTIATE

}  // namespace fctree::kernels
