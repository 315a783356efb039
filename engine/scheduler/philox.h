#pragma once

#include <array>
#include <cstdint>

namespace assay::engine {

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11): random bits as a pure
// function of a key and a counter. A request's n-th draw is Philox(seed, n), so that it is the same after a
// pre-emption and whatever else runs.
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// [0, 1) in steps of 2^-53.
double UniformDraw(uint64_t seed, uint64_t index);

// A seed for request number `index` of an engine started with `seed`.
uint64_t DerivedSeed(uint64_t seed, uint64_t index);

}  // namespace assay::engine
