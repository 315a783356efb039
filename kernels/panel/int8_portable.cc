// Int8 activations on a CPU that has none of the instructions of the other files: plain loops.
#include <algorithm>

#include "kernels/mxfp4/mxfp4.h"
#include "kernels/panel/paths.h"

namespace assay::kernels {
namespace {

// Integers of one block of weights and the scales that make them numbers.
struct Block {
  int32_t values[kPanel][kInt8Block];  // by column and slot
  float scales[kPanel];
};

void Open(const Int8PanelBlock& from, Block& to) {
  for (int64_t n = 0; n < kPanel; ++n) {
    to.scales[n] = FromBf16(from.scales[n]);
    for (int64_t i = 0; i < kInt8Block; ++i) to.values[n][i] = from.values[i / 4][n][i % 4];
  }
}

// Twice the element is an integer.
void Open(const Mxfp4PanelBlock& from, Block& to) {
  for (int64_t n = 0; n < kPanel; ++n) {
    to.scales[n] = DecodeE8M0(from.scales[n]) / 2;
    for (int64_t i = 0; i < kInt8Block; ++i) {
      const uint8_t byte = from.nibbles[i / 8][n][i % 4];
      const auto nibble = static_cast<uint8_t>(i % 8 < 4 ? byte & 15 : byte >> 4);
      to.values[n][i] = static_cast<int32_t>(DecodeE2M1(nibble) * 2);
    }
  }
}

void AddBlock(const Block& weights, const Int8Block& x, float* out) {
  for (int64_t n = 0; n < kPanel; ++n) {
    int32_t sum = 0;
    for (int64_t i = 0; i < kInt8Block; ++i) sum += weights.values[n][i] * x.values[i];
    out[n] += static_cast<float>(sum) * (weights.scales[n] * x.scale);
  }
}

template <class Packed>
void Multiply(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  std::fill(out, out + rows.count * kPanel, 0.0f);
  Block weights;
  for (int64_t b = 0; b < Int8Blocks(k); ++b) {
    Open(reinterpret_cast<const Packed*>(panel)[b], weights);
    for (int64_t r = 0; r < rows.count; ++r) {
      AddBlock(weights, reinterpret_cast<const Int8Block*>(rows.rows[r])[b], out + r * kPanel);
    }
  }
}

}  // namespace

void Int8ByInt8Portable(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  Multiply<Int8PanelBlock>(panel, k, rows, out);
}
void Mxfp4ByInt8Portable(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  Multiply<Mxfp4PanelBlock>(panel, k, rows, out);
}

}  // namespace assay::kernels
