// Which instruction set the hot translation units (*.isa.cpp) run with. Each of them is
// compiled once per instruction set into its own namespace; the choice is made once, at
// run time, from what the build holds, what the processor offers, and the environment
// variable FCTREE_SIMD (baseline, avx2, avx512), which can only lower it. And what else was built.
#pragma once

#include <string>
#include <vector>

namespace fctree {

enum class InstructionSet { baseline = 0, avx2 = 1, avx512 = 2 };

const char* name(InstructionSet isa);
std::vector<std::string> built_instruction_sets();
InstructionSet instruction_set_in_use();

// While it lives the thread that made it uses none above this one: processes that grow a model together have to agree.
class InstructionLimit {
 public:
  explicit InstructionLimit(InstructionSet highest);
  ~InstructionLimit();
  InstructionLimit(const InstructionLimit&) = delete;
  InstructionLimit& operator=(const InstructionLimit&) = delete;

 private:
  InstructionSet before_;
};

std::string eigen_version();

}  // namespace fctree
