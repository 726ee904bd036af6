#include "core/cpu.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/matrix.hpp"

namespace fctree {

namespace {

InstructionSet best_built() {
#if defined(FCTREE_BUILT_AVX512)
  return InstructionSet::avx512;
#elif defined(FCTREE_BUILT_AVX2)
  return InstructionSet::avx2;
#else
  return InstructionSet::baseline;
#endif
}

InstructionSet best_supported() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return InstructionSet::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return InstructionSet::avx2;
#endif
  return InstructionSet::baseline;
}

thread_local InstructionSet limit = InstructionSet::avx512;

// An unknown name changes nothing.
InstructionSet highest_allowed() {
  const char* wanted = std::getenv("FCTREE_SIMD");
  if (wanted != nullptr)
    for (InstructionSet isa : {InstructionSet::baseline, InstructionSet::avx2})
      if (std::string(wanted) == name(isa)) return isa;
  return InstructionSet::avx512;
}

}  // namespace

const char* name(InstructionSet isa) {
  switch (isa) {
    case InstructionSet::avx512:
      return "avx512";
    case InstructionSet::avx2:
      return "avx2";
    default:
      return "baseline";
  }
}

std::vector<std::string> built_instruction_sets() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(best_built()); ++i)
    names.emplace_back(name(static_cast<InstructionSet>(i)));
  return names;
}

InstructionSet instruction_set_in_use() {
  static const InstructionSet chosen =
      std::min({best_built(), best_supported(), highest_allowed()});
  return std::min(chosen, limit);
}

InstructionLimit::InstructionLimit(InstructionSet highest) : before_(limit) { limit = std::min(limit, highest); }

InstructionLimit::~InstructionLimit() { limit = before_; }

std::string eigen_version() {
  return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}

}  // namespace fctree
