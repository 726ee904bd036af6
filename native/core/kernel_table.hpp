// Tables of the functions that are compiled once per instruction set (core/cpu.hpp).
//
// A *.isa.cpp defines its table as `<isa>::table` in the family's namespace.
// FCTREE_DECLARE_TABLE(Type, table) declares the tables of the build there, and
// FCTREE_TABLE_IN_USE(table) is the one of the instruction set in use.
#pragma once

#include "core/cpu.hpp"

namespace fctree {

// Null if the build lacks an instruction set, which is then not in use.
template <class Table>
const Table& table_in_use(const Table* baseline, const Table* avx2, const Table* avx512) {
  switch (instruction_set_in_use()) {
    case InstructionSet::avx512:
      return *avx512;
    case InstructionSet::avx2:
      return *avx2;
    default:
      return *baseline;
  }
}

}  // namespace fctree

#define FCTREE_DECLARE_TABLE_FOR(isa, Type, table) \
  namespace isa {                                  \
  extern const Type table;                         \
  }

#if defined(FCTREE_BUILT_AVX512)
#define FCTREE_DECLARE_TABLE(Type, table)            \
  FCTREE_DECLARE_TABLE_FOR(baseline, Type, table)    \
  FCTREE_DECLARE_TABLE_FOR(avx2, Type, table)        \
  FCTREE_DECLARE_TABLE_FOR(avx512, Type, table)
#define FCTREE_TABLE_IN_USE(table) table_in_use(&baseline::table, &avx2::table, &avx512::table)
#elif defined(FCTREE_BUILT_AVX2)
#define FCTREE_DECLARE_TABLE(Type, table)         \
  FCTREE_DECLARE_TABLE_FOR(baseline, Type, table) \
  FCTREE_DECLARE_TABLE_FOR(avx2, Type, table)
#define FCTREE_TABLE_IN_USE(table) \
  table_in_use(&baseline::table, &avx2::table, decltype(&baseline::table){nullptr})
#else
#define FCTREE_DECLARE_TABLE(Type, table) FCTREE_DECLARE_TABLE_FOR(baseline, Type, table)
#define FCTREE_TABLE_IN_USE(table) baseline::table
#endif

// The tables `table`_double and `table`_float of Kernels<T>, and get<T>(), the one in use.
#define FCTREE_TABLES_OF_TYPES(Kernels, get, table)                                             \
  FCTREE_DECLARE_TABLE(Kernels<double>, table##_double)                                         \
  FCTREE_DECLARE_TABLE(Kernels<float>, table##_float)                                           \
  template <>                                                                                   \
  const Kernels<double>& get<double>() { return FCTREE_TABLE_IN_USE(table##_double); }          \
  template <>                                                                                   \
  const Kernels<float>& get<float>() { return FCTREE_TABLE_IN_USE(table##_float); }
