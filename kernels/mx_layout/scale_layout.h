#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace assay::kernels {

// The order in which a platform's matrix instructions want a weight's MXFP4 scales. Names are those of
// triton_kernels.
enum class ScaleLayout {
  kStrided,    // as in a checkpoint: [n, k]
  kCdna4,      // MI350
  kHopper4,    // H100, 4 warps
  kHopper8,    // H100, 8 warps
  kBlackwell,  // B200
};

// Scales of one expert's matrix: n output columns, k = K / 32 scales each.
struct ScaleShape {
  int64_t n, k;
  bool operator==(const ScaleShape&) const = default;
};

// The shape that is stored, padded as the layout pads by itself. An error, with the arithmetic, for a shape
// that the caller has to pad first.
Result<ScaleShape> StoredShape(ScaleLayout layout, const ScaleShape& shape);

// Where scale (n, k) of a stored shape lies.
int64_t ScaleOffset(ScaleLayout layout, const ScaleShape& stored, int64_t n, int64_t k);

// From [n, k] to the layout and back. Padding is 0, that is 2^-127, and its values are 0 too.
Result<std::vector<uint8_t>> LayOutScales(ScaleLayout layout, const ScaleShape& shape,
                                          std::span<const uint8_t> scales);
Result<std::vector<uint8_t>> ReadScales(ScaleLayout layout, const ScaleShape& shape,
                                        std::span<const uint8_t> stored);

// Scales of activations grouped by expert, for Blackwell: each expert's rows begin at a multiple of 128 and
// are laid out like a weight's n. First row of each expert, and the end.
std::vector<int64_t> BlackwellActivationRows(std::span<const int64_t> rows_of_experts);

}  // namespace assay::kernels
