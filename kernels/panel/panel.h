#pragma once

#include <cstdint>
#include <span>

#include "kernels/activations/activations.h"
#include "kernels/bf16/bf16.h"

namespace assay::kernels {

// A panel holds 32 output columns of a weight matrix, in one piece that is read from begin to end. Every
// matrix product of the CPU backend is a loop over panels.
constexpr int64_t kPanel = 32;

inline int64_t PanelCount(int64_t columns) {
  return (columns + kPanel - 1) / kPanel;
}

enum class PanelFormat {
  kBf16,   // pairs of k interleaved: element (k, n) is [k / 2][n][k % 2]
  kInt8,   // blocks of 32 k (Int8PanelBlock); the last one is filled up with zeros
  kMxfp4,  // blocks of 32 k (kernels/mxfp4/mxfp4.h)
};
int64_t PanelBytes(PanelFormat format, int64_t k);

// Each column's 32 values share a scale: the largest magnitude / 127, rounded up to bf16.
struct Int8PanelBlock {
  Bf16 scales[kPanel];
  int8_t values[8][kPanel][4];  // value i of a column is values[i / 4][column][Int8Slot(i) % 4]
};
static_assert(sizeof(Int8PanelBlock) == 64 + 1024);

// Row-major [columns, k] bf16 weights to PanelCount(columns) panels; missing columns become zero. k is even.
void PackBf16Panels(const Bf16* weights, int64_t columns, int64_t k, uint8_t* panels);
void PackInt8Panels(const Bf16* weights, int64_t columns, int64_t k, uint8_t* panels);

struct PanelRows {
  RowFormat format;
  int64_t terms;  // of kBf16: 1 or 2
  const uint8_t* const* rows;
  int64_t count;
};

// out[r * 32 + n] = sum over k of rows[r][k] * panel(k, n).
//
// Each output is one chain of additions in ascending k, whatever the number of rows: this is what makes a
// token's result independent of its batch. With int8 rows the links of the chain are whole blocks of 32,
// each an exact integer times the two scales.
//
// Int8 panels take int8 rows, bf16 panels the other two formats, MXFP4 panels all three.
void PanelMatmul(PanelFormat format, const uint8_t* panel, int64_t k, const PanelRows& rows, float* out);

// What PanelMatmul chooses from.
using PanelFunction = void (*)(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out);
struct PanelPath {
  const char* name;
  PanelFormat weights;
  RowFormat rows;
  PanelFunction multiply;
  bool (*available)();  // on this machine
};
std::span<const PanelPath> PanelPaths();  // best first

bool HasBf16DotProduct();
// Whether it also multiplies more than float32 does. Intel's cores start a quarter as many of these
// as multiply-adds of float32: half the work (measured on Emerald Rapids).
bool Bf16DotProductIsFast();

}  // namespace assay::kernels
