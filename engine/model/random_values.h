#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/bf16/bf16.h"

namespace assay::engine {

// Random numbers by position: number i is drawn without drawing those before it, so many threads can fill a
// tensor piece by piece and every layout of a checkpoint can draw the same weights in its own order.
// Splitmix64 and single roundings only: the same on every machine.
class RandomStream {
 public:
  // Each name has a stream of its own: a tensor's values do not depend on its neighbours.
  RandomStream(uint64_t seed, std::string_view name);

  uint64_t Word(int64_t i) const {
    uint64_t z = start_ + static_cast<uint64_t>(i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // A whole number close to normal, mean 0 and deviation kNormalDeviation: the sum of eight bytes.
  static constexpr float kNormalDeviation = 209;
  int Normal(int64_t i) const {
    constexpr uint64_t kEven = 0x00FF00FF00FF00FFu;
    const uint64_t bytes = Word(i), pairs = (bytes & kEven) + (bytes >> 8 & kEven);
    return static_cast<int>(pairs * 0x0001000100010001u >> 48) - 1020;
  }

 private:
  uint64_t start_;
};

// bf16 numbers [first, first + count) of a stream, mean 0.
void FillNormal(const RandomStream& stream, float deviation, int64_t first, int64_t count,
                kernels::Bf16* out);
// Mean 1.
void FillNearOne(const RandomStream& stream, float deviation, int64_t first, int64_t count,
                 kernels::Bf16* out);

// A weight matrix [rows, k] in MXFP4 with random elements; the experts of a layer are one tall matrix. Scales
// are 127 + exponent or one less.
struct RandomMxfp4 {
  RandomStream blocks, scales;
  int64_t k;
  int exponent;

  // The 16-byte blocks, or their scales, of the matrix seen as one long row.
  void Blocks(int64_t first, int64_t count, uint8_t* out) const;
  void Scales(int64_t first, int64_t count, uint8_t* out) const;
  // Block column `block` (32 k) of rows [first, first + rows), dequantised and transposed: [32, rows].
  void Transposed(int64_t first, int64_t rows, int64_t block, kernels::Bf16* out) const;
};

}  // namespace assay::engine
