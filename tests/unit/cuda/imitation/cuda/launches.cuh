// launches.cuh by the emulation of the device's programs.
#pragma once

#include "cuda/resources.cuh"
#include "cuda/rows_to_panels.hpp"
#include "cuda/vectors.hpp"

namespace fctree::cuda::FCTREE_ISA {

// The memory that an output is in: writes beyond its end are errors.
template <class T>
CountedOutput<T> memory_of(T* inside) {
  const auto after = imitation::memory.upper_bound(reinterpret_cast<char*>(inside));
  if (after == imitation::memory.begin()) throw std::logic_error("output not on the device");
  const auto& [begin, n_bytes] = *std::prev(after);
  CountedOutput<T> output;
  output.data = reinterpret_cast<T*>(begin);
  output.counts.assign(n_bytes / sizeof(T), 0);
  return output;
}

// program(team, block) for some blocks.
template <class T, class Program>
void emulate_blocks(std::int64_t first, std::int64_t n_blocks, CountedOutput<T> output,
                    const Program& program) {
  for (std::int64_t block = first; block < first + n_blocks; ++block) {
    EmulatedTeam<T> team(2 * kTileSize<T>, ThreadOrder::rising, output);
    program(team, block);
  }
}

template <class T>
void launch_gram(const GramTask<T>& task, std::int64_t first, std::int64_t n_blocks, cudaStream_t) {
  emulate_blocks<T>(first, n_blocks, memory_of(task.target.out),
                    [&](auto& team, std::int64_t block) { gram_program(team, task, block); });
}
template <class T>
void launch_path(const PathTask<T>& task, std::int64_t first, std::int64_t n_blocks, cudaStream_t) {
  emulate_blocks<T>(first, n_blocks, memory_of(task.gram.target.out),
                    [&](auto& team, std::int64_t block) { path_program(team, task, block); });
}
template <class T>
void launch_product(const VectorTask<T>& task, std::int64_t first, std::int64_t n_blocks,
                    cudaStream_t) {
  emulate_blocks<T>(first, n_blocks, {},
                    [&](auto& team, std::int64_t block) { vector_program(team, task, block); });
}
template <class T>
void launch_sum_of_parts(const VectorTask<T>& task, T* out, cudaStream_t) {
  const std::int64_t size = task.n_problems * task.left.n_rows * task.n_vectors;
  for (std::int64_t k = 0; k < size; ++k) out[k] = add_parts(task, k);
}
template <class T>
void launch_panels(const PanelTask<T>& task, cudaStream_t) {
  for (std::int64_t i = 0; i < task.n_threads(); ++i) row_to_panel(task, i);
  emulate_blocks<T>(0, task.n_problems * task.rows.n_tiles, {},
                    [&](auto& team, std::int64_t block) { self_program(team, task.rows, block); });
}

}  // namespace fctree::cuda::FCTREE_ISA
