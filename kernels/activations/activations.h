#pragma once

#include <cstdint>

#include "kernels/bf16/bf16.h"
#include "kernels/int8/int8.h"
#include "kernels/memory/aligned.h"

namespace assay::kernels {

// What a matrix product is given; weights, sums and everything between products are the same.
enum class Activations {
  kBf16,      // rounded to 8 significant bits, as GPU engines do
  kBf16Pair,  // with the rounding error as a second number: 16 bits, routes and answers as float32 does
  kInt8,      // 32 values share a scale: the fastest
};

// How a row lies in memory.
enum class RowFormat {
  kFloat32,  // k numbers, already rounded: for CPUs that multiply float32
  kBf16,     // terms * k numbers as SplitToBf16 leaves them: for CPUs with a fast bf16 dot product
  kInt8,     // Int8Blocks(k) blocks
};
RowFormat BestRowFormat(Activations kind);  // of this machine

// Rows of activations as the matrix products read them.
class ActivationRows {
 public:
  ActivationRows() = default;
  ActivationRows(Activations kind, int64_t rows, int64_t k)
      : ActivationRows(kind, rows, k, BestRowFormat(kind)) {}
  ActivationRows(Activations kind, int64_t rows, int64_t k, RowFormat format);

  void Set(int64_t row, const float* x) { SetColumns(row, 0, k_, x); }
  // Columns [first, first + count), x [count]. Both are multiples of 32, except that the last block of a row,
  // or of what shares no block with it, may be cut short: the block's other values become zero. Several
  // threads may set different columns of a row at a time.
  void SetColumns(int64_t row, int64_t first, int64_t count, const float* x);

  Activations Kind() const { return kind_; }
  RowFormat Format() const { return format_; }
  int64_t Terms() const { return kind_ == Activations::kBf16Pair ? 2 : 1; }
  int64_t K() const { return k_; }
  int64_t Count() const { return count_; }
  const uint8_t* Row(int64_t row) const { return bytes_.data() + row * stride_; }

 private:
  Activations kind_ = Activations::kBf16;
  RowFormat format_ = RowFormat::kFloat32;
  int64_t count_ = 0, k_ = 0, stride_ = 0;
  Aligned<uint8_t> bytes_;
};

}  // namespace assay::kernels
