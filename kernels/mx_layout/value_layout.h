#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::kernels {

// The order in which a platform's kernels want a weight's MXFP4 values. Names are those of triton_kernels.
enum class ValueLayout {
  kStrided,     // as in a checkpoint: [n, k]
  kHopperMma2,  // A100 instructions
  kHopperMma3,  // H100 instructions
  kBlackwell,   // as in a checkpoint, each row padded to 128 bytes
};

// Values of one expert's matrix: n output columns, k = K / 2 bytes each.
struct ValueShape {
  int64_t n, k;
  bool operator==(const ValueShape&) const = default;
};

// Padded as the layout pads by itself; padding is 0.
ValueShape StoredShape(ValueLayout layout, const ValueShape& shape);

// Where byte (n, k) of a stored shape lies before the bits of Hopper's words are interleaved.
int64_t ValueOffset(ValueLayout layout, const ValueShape& stored, int64_t n, int64_t k);

// From [n, k] to the layout and back.
std::vector<uint8_t> LayOutValues(ValueLayout layout, const ValueShape& shape,
                                  std::span<const uint8_t> bytes);
std::vector<uint8_t> ReadValues(ValueLayout layout, const ValueShape& shape, std::span<const uint8_t> stored);

// Hopper's word of four bytes: the kernel cuts it into bf16 numbers with three shifts and one mask, because
// each nibble's sign lies where a bf16's sign is and its other bits at the border of exponent and mantissa.
uint32_t InterleaveNibbles(uint32_t bytes);
uint32_t SeparateNibbles(uint32_t word);

}  // namespace assay::kernels
