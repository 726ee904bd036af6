// How fast can this machine fill histograms? The floor under every trainer of boosted trees.
//
//   histogram_floor N D BINS LEVELS THREADS REPEATS
//
// Column-major uint8 bins; at level l a row lies in one of 2^l leaves. Every row adds one 64-bit
// integer, the fixed-point gradient in its high bits and a count of one in its low bits, to a
// cell of each feature; two features a pass, so that the row's state is read half as often.
// Prints one line of JSON: updates per second at each level (best of the repeats), and for
// comparison those of a float32 gradient and a float32 count in two adds.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Problem {
  std::size_t n, d, bins;
  std::vector<std::uint8_t> columns;  // (d, n)
  std::vector<std::int64_t> packed;   // (n,)
  std::vector<float> gradient;        // (n,)
  std::vector<std::uint8_t> leaf;     // (n,)
};

// A row's cells of two features, interleaved nowhere: each feature keeps its own histogram.
void add_packed(const Problem& p, std::size_t f, std::int64_t* first, std::int64_t* second) {
  const std::uint8_t* a = p.columns.data() + f * p.n;
  const std::uint8_t* b = a + p.n;
  for (std::size_t i = 0; i < p.n; ++i) {
    const std::size_t base = static_cast<std::size_t>(p.leaf[i]) * p.bins;
    const std::int64_t value = p.packed[i];
    first[base + a[i]] += value;
    second[base + b[i]] += value;
  }
}

void add_float(const Problem& p, std::size_t f, float* first, float* second) {
  const std::uint8_t* a = p.columns.data() + f * p.n;
  const std::uint8_t* b = a + p.n;
  for (std::size_t i = 0; i < p.n; ++i) {
    const std::size_t base = static_cast<std::size_t>(p.leaf[i]) * p.bins;
    const float value = p.gradient[i];
    float* x = first + 2 * (base + a[i]);
    float* y = second + 2 * (base + b[i]);
    x[0] += value;
    x[1] += 1.0f;
    y[0] += value;
    y[1] += 1.0f;
  }
}

// Seconds of the best of some passes over all features, pairs of them dealt to the threads in turn.
// One team makes all passes: threads that live for a millisecond may never leave their first core.
double best_pass(std::size_t pairs, int threads, int repeats,
                 const std::function<void(std::size_t)>& pair) {
  std::atomic<int> arrived{0};
  double best = 1e300;
  const auto meet = [&](int meeting) {
    ++arrived;
    while (arrived.load() < meeting * threads) std::this_thread::yield();
  };
  const auto work = [&](int t) {
    for (int r = 0; r < repeats; ++r) {
      meet(2 * r + 1);
      const auto start = Clock::now();
      for (std::size_t k = t; k < pairs; k += threads) pair(k);
      meet(2 * r + 2);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (t == 0 && seconds < best) best = seconds;
    }
  };
  std::vector<std::thread> team;
  for (int t = 1; t < threads; ++t) team.emplace_back(work, t);
  work(0);
  for (std::thread& worker : team) worker.join();
  return best;
}

// A multiplicative congruential sequence: only the spread over bins and leaves matters.
std::uint32_t next(std::uint64_t& state) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return static_cast<std::uint32_t>(state >> 33);
}

Problem make_problem(std::size_t n, std::size_t d, std::size_t bins) {
  Problem p{n, d, bins, std::vector<std::uint8_t>(n * d), std::vector<std::int64_t>(n),
            std::vector<float>(n), std::vector<std::uint8_t>(n)};
  std::uint64_t state = 1;
  for (auto& bin : p.columns) bin = static_cast<std::uint8_t>(next(state) % bins);
  for (std::size_t i = 0; i < n; ++i) {
    p.gradient[i] = static_cast<float>(next(state) % 2001) / 1000.0f - 1.0f;
    p.packed[i] = (static_cast<std::int64_t>(p.gradient[i] * (1 << 16)) * (1LL << 24)) + 1;
  }
  return p;
}

template <class Cell, class Add>
double best_rate(const Problem& p, std::size_t cells, int threads, int repeats, Add add) {
  std::vector<std::vector<Cell>> histograms(p.d, std::vector<Cell>(cells));
  const double best = best_pass(p.d / 2, threads, repeats, [&](std::size_t k) {
    add(p, 2 * k, histograms[2 * k].data(), histograms[2 * k + 1].data());
  });
  volatile Cell sink = histograms[0][0];  // the sums are used
  (void)sink;
  return static_cast<double>(p.n) * static_cast<double>(p.d / 2 * 2) / best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const std::size_t n = std::strtoull(argv[1], nullptr, 10);
  const std::size_t d = std::strtoull(argv[2], nullptr, 10);
  const std::size_t bins = std::strtoull(argv[3], nullptr, 10);
  const int levels = std::atoi(argv[4]), threads = std::atoi(argv[5]);
  const int repeats = std::atoi(argv[6]);
  Problem p = make_problem(n, d, bins);
  std::printf("{\"packed\": [");
  std::vector<double> plain;
  for (int level = 0; level < levels; ++level) {
    std::uint64_t state = 7;
    const std::uint32_t leaves = 1u << level;
    for (auto& leaf : p.leaf) leaf = static_cast<std::uint8_t>(next(state) % leaves);
    const std::size_t cells = leaves * bins;
    std::printf("%s%.4g", level ? ", " : "",
                best_rate<std::int64_t>(p, cells, threads, repeats, add_packed));
    plain.push_back(best_rate<float>(p, 2 * cells, threads, repeats, add_float));
  }
  std::printf("], \"float\": [");
  for (int level = 0; level < levels; ++level)
    std::printf("%s%.4g", level ? ", " : "", plain[level]);
  std::printf("]}\n");
  return 0;
}
