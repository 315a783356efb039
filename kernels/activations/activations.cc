#include "kernels/activations/activations.h"

#include <algorithm>

#include "kernels/panel/panel.h"

namespace assay::kernels {
namespace {

int64_t RowBytes(RowFormat format, int64_t terms, int64_t k) {
  switch (format) {
    case RowFormat::kFloat32:
      return k * 4;
    case RowFormat::kBf16:
      return k * 2 * terms;
    case RowFormat::kInt8:
      return Int8Blocks(k) * static_cast<int64_t>(sizeof(Int8Block));
  }
  return 0;
}

}  // namespace

RowFormat BestRowFormat(Activations kind) {
  if (kind == Activations::kInt8) return RowFormat::kInt8;
  return Bf16DotProductIsFast() ? RowFormat::kBf16 : RowFormat::kFloat32;
}

ActivationRows::ActivationRows(Activations kind, int64_t rows, int64_t k, RowFormat format)
    : kind_(kind), format_(format), count_(rows), k_(k) {
  CHECK_EQ(kind == Activations::kInt8, format == RowFormat::kInt8);
  stride_ = (RowBytes(format, Terms(), k) + 63) / 64 * 64;
  bytes_ = Aligned<uint8_t>(rows * stride_);
}

void ActivationRows::SetColumns(int64_t row, int64_t first, int64_t count, const float* x) {
  const int64_t end = first + count;
  CHECK(row >= 0 && row < count_ && first >= 0 && end <= k_);
  CHECK_EQ(first % kInt8Block, 0);
  const int64_t rest = std::min(Int8Blocks(end) * kInt8Block, k_) - end;  // of the last block
  uint8_t* to = bytes_.data() + row * stride_;
  if (format_ == RowFormat::kInt8) {
    QuantiseInt8(x, count, reinterpret_cast<Int8Block*>(to) + first / kInt8Block);
  } else if (format_ == RowFormat::kFloat32) {
    float* floats = reinterpret_cast<float*>(to);
    RoundToBf16(x, count, Terms(), floats + first);
    std::fill_n(floats + end, rest, 0.0f);
  } else {
    Bf16* high = reinterpret_cast<Bf16*>(to);
    SplitToBf16(x, count, Terms(), high + first, high + k_ + first);
    for (int64_t term = 0; term < Terms(); ++term) std::fill_n(high + term * k_ + end, rest, Bf16{0});
  }
}

}  // namespace assay::kernels
