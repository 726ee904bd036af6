#define FCTREE_ISA emulated

#include "cuda/emulation.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "cuda/rows_to_panels.hpp"
#include "cuda/vectors.hpp"

namespace fctree::cuda::FCTREE_ISA {

namespace {

[[noreturn]] void refuse(const char* what, std::int64_t index) {
  std::ostringstream message;
  message << what << " at element " << index;
  throw std::logic_error(message.str());
}

// Shared memory that records accesses since the last barrier.
template <class T>
class WatchedMemory {
 public:
  explicit WatchedMemory(int size) : elements_(size) {}

  T load(int index) {
    Element& element = at(index);
    if (!element.ready) refuse("read before written or arrived", index);
    if (element.write_phase == phase && element.writer != thread)
      refuse("race: read what another thread writes", index);
    element.reader = element.read_phase == phase && element.reader != thread ? kSeveral : thread;
    element.read_phase = phase;
    return element.value;
  }
  void store(int index, T value) {
    mark_written(index);
    elements_[index].value = value;
    elements_[index].ready = true;
  }
  Pack<T> load_pack(int index) {
    check_pack(index);
    return Pack<T>::of([&](int e) { return load(index + e); });
  }
  void store_pack(int index, const Pack<T>& values) {
    check_pack(index);
    for (int e = 0; e < kPack<T>; ++e) store(index + e, values.v[e]);
  }
  // Arrives when its group is waited for.
  void copy(int index, const T* from) {
    check_pack(index);
    if (reinterpret_cast<std::uintptr_t>(from) % 16 != 0) refuse("copy not aligned", index);
    for (int e = 0; e < kPack<T>; ++e) {
      mark_written(index + e);
      elements_[index + e].ready = false;
    }
    groups_.back().push_back({index, thread, from});
  }
  void finish_group() { groups_.emplace_back(); }
  // All but the newest finished group have arrived.
  void wait_for_group() {
    while (groups_.size() > 2) {
      for (const Copy& copy : groups_.front()) {
        thread = copy.thread;
        for (int e = 0; e < kPack<T>; ++e) store(copy.index + e, copy.from[e]);
      }
      groups_.erase(groups_.begin());
    }
  }

  int phase = 0;
  int thread = 0;

 private:
  static constexpr int kSeveral = -2;
  struct Element {
    T value{};
    bool ready = false;
    int write_phase = -1, writer = -1, read_phase = -1, reader = -1;
  };
  struct Copy {
    int index, thread;
    const T* from;
  };

  Element& at(int index) {
    if (index < 0 || index >= static_cast<int>(elements_.size())) refuse("out of bounds", index);
    return elements_[index];
  }
  void check_pack(int index) {
    if (index % kPack<T> != 0) refuse("pack not aligned", index);
  }
  void mark_written(int index) {
    Element& element = at(index);
    if (element.write_phase == phase && element.writer != thread)
      refuse("race: two threads write", index);
    if (element.read_phase == phase && element.reader != thread)
      refuse("race: write what another thread reads", index);
    element.write_phase = phase;
    element.writer = thread;
  }

  std::vector<Element> elements_;
  std::vector<std::vector<Copy>> groups_{1};
};

// The output matrix, with the number of writes of each element.
template <class T>
struct CountedOutput {
  T* data = nullptr;
  std::vector<std::uint8_t> counts;

  void store(T* to, T value) {
    const std::int64_t index = to - data;
    if (index < 0 || index >= static_cast<std::int64_t>(counts.size()))
      refuse("output out of bounds", index);
    ++counts[index];
    *to = value;
  }
};

template <class T>
class EmulatedTeam {
 public:
  EmulatedTeam(int shared_size, cuda::ThreadOrder order, CountedOutput<T>& output)
      : shared(shared_size), registers_(kThreads), order_(order), output_(output) {}

  template <class Step>
  void lanes(const Step& step) {
    for (int k = 0; k < kThreads; ++k) {
      shared.thread = thread_at(k);
      step(shared.thread, registers_[shared.thread]);
    }
  }
  void barrier() { ++shared.phase; }
  void finish_group() { shared.finish_group(); }
  void wait_for_group() { shared.wait_for_group(); }
  T multiply_add(T a, T b, T c) const { return a * b + c; }

  // The tensor cores, by the layout of their operands over a warp's lanes.
  void multiply_fragments() {
    for (int warp = 0; warp < kThreads / 32; ++warp) {
      Registers<T>* lanes = registers_.data() + warp * 32;
      for (int lane = 0; lane < 32; ++lane)
        for (int m = 0; m < 3; ++m)
          for (int n = 0; n < 4; ++n)
            for (int e = 0; e < 4; ++e) {
              const int row = lane / 4, column = lane % 4 * 2 + e % 2;
              for (int k = 0; k < kGroup; ++k)
                lanes[lane].sums[m][n][e] +=
                    lanes[row * 4 + k].left[m][e / 2] * lanes[column * 4 + k].right[n];
            }
    }
  }

  void store(T* to, T value) { output_.store(to, value); }
  void store_pack(T* to, const Pack<T>& values) {
    if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0) refuse("store not aligned", to - output_.data);
    for (int e = 0; e < kPack<T>; ++e) store(to + e, values.v[e]);
  }

  WatchedMemory<T> shared;

 private:
  static constexpr int kThreads = TileShape<T>::threads;
  int thread_at(int k) const {
    if (order_ == cuda::ThreadOrder::rising) return k;
    if (order_ == cuda::ThreadOrder::falling) return kThreads - 1 - k;
    return (k * 77 + shared.phase * 13) % kThreads;  // 77 has no factor with the team's size
  }

  std::vector<Registers<T>> registers_;
  cuda::ThreadOrder order_;
  CountedOutput<T>& output_;
};

// One side's panels, with their memory.
template <class T>
class EmulatedPanels {
 public:
  EmulatedPanels(const Samples<T>& samples, index_t n_problems, const RowScaling& scaling,
                 cuda::ThreadOrder order)
      : n_rows_(samples.n_rows / n_problems),
        n_tiles_((n_rows_ + TileShape<T>::tile - 1) / TileShape<T>::tile),
        depth_(round_up(samples.n_features, kGroup)),
        padded_(n_problems * n_tiles_ * TileShape<T>::tile),
        panels_(padded_ * depth_), self_(padded_), gap_(padded_), factor_(padded_) {
    RowFaults faults = {0, 0};
    const PanelTask<T> task = {samples.data, n_problems, samples.n_features,
                               scaling,      view(),     &faults};
    for (index_t i = 0; i < task.n_threads(); ++i) row_to_panel(task, i);
    if (faults.not_finite || faults.too_long) throw std::invalid_argument("rows not accepted");
    CountedOutput<T> none;
    for (index_t block = 0; block < n_problems * n_tiles_; ++block) {
      EmulatedTeam<T> team(kSharedSize<T>, order, none);
      self_program(team, view(), block);
    }
  }
  PanelRows<T> view() {
    return {panels_.data(), self_.data(), gap_.data(), factor_.data(), n_rows_, n_tiles_, depth_};
  }

 private:
  index_t n_rows_, n_tiles_, depth_, padded_;
  AlignedArray<T> panels_, self_, gap_, factor_;
};

template <class T>
struct EmulatedSides {
  EmulatedSides(const cuda::EmulatedInput<T>& input, KernelKind kind)
      : scaling(scaling_of(kind, input.scale)),
        left(input.x, input.n_problems, scaling, input.order),
        right(input.y.data == nullptr ? input.x : input.y, input.n_problems, scaling, input.order),
        grid{input.n_problems, left.view().n_tiles, right.view().n_tiles, input.y.data == nullptr} {}
  RowScaling scaling;
  EmulatedPanels<T> left, right;
  TileGrid grid;
};

}  // namespace

}  // namespace fctree::cuda::FCTREE_ISA

namespace fctree::cuda {

using namespace FCTREE_ISA;

template <class T>
std::vector<std::uint8_t> emulate_gram(const std::vector<KernelSpec>& specs,
                                       const EmulatedInput<T>& input, T* out, index_t stride) {
  EmulatedSides<T> sides(input, specs[0].kind);
  const index_t n_specs = static_cast<index_t>(specs.size());
  const index_t matrix = sides.left.view().n_rows * stride;
  CountedOutput<T> output;
  output.data = out;
  output.counts.assign(input.n_problems * n_specs * matrix, 0);
  const GramTask<T> task = {sides.grid, sides.left.view(), sides.right.view(),
                            make_target(out, n_specs * matrix, stride), specs[0]};
  const PathTask<T> path = {task, specs.data(), n_specs, matrix};
  for (index_t block = 0; block < sides.grid.size(); ++block) {
    EmulatedTeam<T> team(n_specs > 1 ? 2 * kTileSize<T> : kSharedSize<T>, input.order, output);
    if (n_specs > 1) path_program(team, path, block);
    else gram_program(team, task, block);
  }
  return output.counts;
}

template <class T>
void emulate_product(const KernelSpec& spec, const EmulatedInput<T>& input, const T* vectors,
                     index_t n_vectors, T* out) {
  EmulatedSides<T> sides(input, spec.kind);
  constexpr index_t kParts = 3;
  const index_t n_parts = std::min<index_t>(kParts, sides.grid.n_columns);
  const index_t size = sides.left.view().n_rows * n_vectors;
  std::vector<double> sums(input.n_problems * n_parts * kSplits<T> * size);
  const VectorTask<T> task = {sides.left.view(), sides.right.view(), spec,      vectors,
                              sums.data(),       input.n_problems,   n_vectors, n_parts};
  CountedOutput<T> none;
  for (index_t block = 0; block < task.n_blocks(); ++block) {
    EmulatedTeam<T> team(kSharedSize<T>, input.order, none);
    vector_program(team, task, block);
  }
  for (index_t k = 0; k < input.n_problems * size; ++k) out[k] = add_parts(task, k);
}

#define FCTREE_INSTANTIATE(T)                                                                     \
  template std::vector<std::uint8_t> emulate_gram<T>(const std::vector<KernelSpec>&,              \
                                                     const EmulatedInput<T>&, T*, index_t);       \
  template void emulate_product<T>(const KernelSpec&, const EmulatedInput<T>&, const T*, index_t, \
                                   T*);
FCTREE_INSTANTIATE(double)
FCTREE_INSTANTIATE(float)
#undef FCTREE_INSTANTIATE

}  // namespace fctree::cuda
