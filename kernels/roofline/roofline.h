#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::kernels {

// What this core can do at best, for speeds to be held against. Each function works for a while on one thread
// and says how much it did; whoever calls it on all threads together has the clock.

// XOR of all bytes, read as fast as memory gives them; the result keeps the compiler from leaving it out.
uint64_t ReadAll(std::span<const uint8_t> bytes);

// One kind of arithmetic in registers alone: independent chains of its fastest instruction.
struct PeakLoop {
  std::string name;                // "float32 FMA"
  int64_t operations_a_round = 0;  // multiplies and adds, two for a multiply-add
  void (*run)(int64_t rounds) = nullptr;
};
// The kinds that this machine has: float32 FMA, then what there is of bf16 and int8 dot products.
std::vector<PeakLoop> PeakLoops();

}  // namespace assay::kernels
