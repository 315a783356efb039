#pragma once

#include <cstdint>

namespace assay::kernels {

// 32 values that share one scale: value i = scale * values[Int8Slot(i)].
constexpr int64_t kInt8Block = 32;
struct Int8Block {
  float scale;        // largest magnitude / 127; NaN if a value was not finite
  int16_t sums[2];    // of the first and of the last two bytes of every four of `values`
  int8_t values[32];  // -127 .. 127
};
static_assert(sizeof(Int8Block) == 40);

// Where value i lies in its block, and in the blocks of every matrix that meets one: the middle two of each
// four change places, so that a lane of packed MXFP4 opens into pairs of neighbours by a shift and a mask.
inline int64_t Int8Slot(int64_t i) {
  const int64_t in_four = i % 4;
  return i - in_four + (in_four == 1 ? 2 : in_four == 2 ? 1 : in_four);
}

inline int64_t Int8Blocks(int64_t n) {
  return (n + kInt8Block - 1) / kInt8Block;
}

// A block whose largest magnitude is below this counts as zeros: the inverse of its scale is not a number.
constexpr float kInt8Smallest = 0x1p-100f;

// `in` [n] to Int8Blocks(n) blocks, each value rounded to nearest, ties to even; the end of the last block is
// zeros. The fast one gives the same bytes as the definition.
void QuantiseInt8Reference(const float* in, int64_t n, Int8Block* out);
void QuantiseInt8(const float* in, int64_t n, Int8Block* out);

}  // namespace assay::kernels
