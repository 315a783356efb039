#include "kernels/mx_layout/scale_layout.h"

#include "kernels/mx_layout/padding.h"

namespace assay::kernels {
namespace {

int64_t Warps(ScaleLayout layout) {
  return layout == ScaleLayout::kHopper4 ? 4 : 8;
}

int64_t Cdna4Offset(const ScaleShape& s, int64_t n, int64_t k) {
  return n / 32 * (s.k * 32) + k / 8 * 256 + k % 4 * 64 + n % 16 * 4 + k % 8 / 4 * 2 + n % 32 / 16;
}

int64_t HopperOffset(const ScaleShape& s, int64_t w, int64_t n, int64_t k) {
  const int64_t row = n / (32 * w) * w + n / 16 % w;
  const int64_t column = k / 2 * 64 + n % (32 * w) / (16 * w) * 32 + n % 8 * 4 + k % 2 * 2 + n / 8 % 2;
  return row * (s.k * 32) + column;
}

int64_t BlackwellOffset(const ScaleShape& s, int64_t n, int64_t k) {
  return (n / 128 * (s.k / 4) + k / 4) * 512 + n % 32 * 16 + n % 128 / 32 * 4 + k % 4;
}

}  // namespace

Result<ScaleShape> StoredShape(ScaleLayout layout, const ScaleShape& s) {
  switch (layout) {
    case ScaleLayout::kStrided:
      return s;
    case ScaleLayout::kCdna4:
      if (s.k % 8 != 0) {
        return Fail(
            ErrorKind::kUsage,
            "CDNA4 scales need K to be a multiple of 256: K = {} has {} scales, {} % 8 = {}; pad to {}",
            s.k * 32, s.k, s.k, s.k % 8, RoundUp(s.k, 8) * 32);
      }
      if (s.n % 32 != 0) {
        return Fail(ErrorKind::kUsage, "CDNA4 scales need N to be a multiple of 32: {} % 32 = {}; pad to {}",
                    s.n, s.n % 32, RoundUp(s.n, 32));
      }
      return s;
    case ScaleLayout::kHopper4:
    case ScaleLayout::kHopper8:
      return ScaleShape{RoundUp(s.n, 32 * Warps(layout)), RoundUp(s.k, 2)};
    case ScaleLayout::kBlackwell:
      break;
  }
  return ScaleShape{RoundUp(s.n, 128), RoundUp(s.k, 8)};
}

int64_t ScaleOffset(ScaleLayout layout, const ScaleShape& stored, int64_t n, int64_t k) {
  switch (layout) {
    case ScaleLayout::kStrided:
      return n * stored.k + k;
    case ScaleLayout::kCdna4:
      return Cdna4Offset(stored, n, k);
    case ScaleLayout::kHopper4:
    case ScaleLayout::kHopper8:
      return HopperOffset(stored, Warps(layout), n, k);
    case ScaleLayout::kBlackwell:
      break;
  }
  return BlackwellOffset(stored, n, k);
}

Result<std::vector<uint8_t>> LayOutScales(ScaleLayout layout, const ScaleShape& shape,
                                          std::span<const uint8_t> scales) {
  ASSIGN_OR_RETURN(const ScaleShape stored, StoredShape(layout, shape));
  std::vector<uint8_t> out(static_cast<size_t>(stored.n * stored.k));
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int64_t k = 0; k < shape.k; ++k) {
      out[static_cast<size_t>(ScaleOffset(layout, stored, n, k))] =
          scales[static_cast<size_t>(n * shape.k + k)];
    }
  }
  return out;
}

Result<std::vector<uint8_t>> ReadScales(ScaleLayout layout, const ScaleShape& shape,
                                        std::span<const uint8_t> laid_out) {
  ASSIGN_OR_RETURN(const ScaleShape stored, StoredShape(layout, shape));
  std::vector<uint8_t> scales(static_cast<size_t>(shape.n * shape.k));
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int64_t k = 0; k < shape.k; ++k) {
      scales[static_cast<size_t>(n * shape.k + k)] =
          laid_out[static_cast<size_t>(ScaleOffset(layout, stored, n, k))];
    }
  }
  return scales;
}

std::vector<int64_t> BlackwellActivationRows(std::span<const int64_t> rows_of_experts) {
  std::vector<int64_t> begins = {0};
  for (const int64_t rows : rows_of_experts) begins.push_back(begins.back() + RoundUp(rows, 128));
  return begins;
}

}  // namespace assay::kernels
