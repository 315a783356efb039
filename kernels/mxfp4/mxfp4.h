#pragma once

#include <cstdint>
#include <span>

#include "kernels/bf16/bf16.h"

namespace assay::kernels {

// MXFP4 (OCP microscaling): 32 values share one scale byte. A block is 16 bytes, byte p holds element 2p in
// its low and 2p+1 in its high nibble. Value = E2M1(nibble) * E8M0(scale).
constexpr int64_t kMxBlock = 32;
constexpr int64_t kMxBlockBytes = 16;

// Sign, two exponent bits, one mantissa bit: 0 .5 1 1.5 2 3 4 6 and their negatives (8 is -0).
float DecodeE2M1(uint8_t nibble);
// 2^(byte - 127); 0 is 2^-127, 255 is NaN.
float DecodeE8M0(uint8_t byte);

// values[b * 32 + i] of `count` blocks.
void DecodeMxfp4(const uint8_t* blocks, const uint8_t* scales, int64_t count, float* values);

// How the scale of a block follows from its largest magnitude m.
enum class Mxfp4Scale {
  kCover,  // 2^ceil(log2(m / 6)): nothing is clipped
  kOcp,    // 2^(floor(log2(m)) - 2): the OCP rule; the largest values may be clipped to 6
};
// Elements go to the nearest E2M1 value, ties to the even mantissa. A block with a NaN or infinity gets scale
// 255; a block of zeros gets scale 0.
void EncodeMxfp4(const float* values, int64_t count, Mxfp4Scale rule, uint8_t* blocks, uint8_t* scales);

// --- the fast side: weights as matrix products read them ---

// 32 columns x 32 k of MXFP4 as panels hold them (kernels/panel/panel.h): a packed panel is k / 32 of these.
// A column's four bytes of a row hold its k in [8 row, 8 row + 4) in their low nibbles and the next four in
// their high nibbles, each four in the order of Int8Slot.
struct Mxfp4PanelBlock {
  uint8_t scales[32];
  uint8_t nibbles[4][32][4];
};
static_assert(sizeof(Mxfp4PanelBlock) == 544);
inline int64_t Mxfp4PanelBytes(int64_t k) {
  return k / kMxBlock * static_cast<int64_t>(sizeof(Mxfp4PanelBlock));
}

// One panel. `columns` [<= 32] says which row of the row-major matrix ([rows, k / 32, 16] blocks and [rows,
// k / 32] scales) each column is; columns beyond become zero.
void PackMxfp4Panel(const uint8_t* blocks, const uint8_t* scales, int64_t k, std::span<const int64_t> columns,
                    uint8_t* packed);

// `count` blocks as a bf16 panel holds them, [k / 2][column][k % 2]. Every value is exact, except that what
// lies beyond bf16 becomes infinite, as it does in float32.
void DecodeMxfp4Panel(const Mxfp4PanelBlock* blocks, int64_t count, Bf16* values);
// Their elements as [k][column], and the scales to multiply these with as [block][column].
void OpenMxfp4Panel(const Mxfp4PanelBlock* blocks, int64_t count, float* elements, float* scales);

}  // namespace assay::kernels
