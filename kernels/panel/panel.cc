#include "kernels/panel/panel.h"

#include "base/check.h"
#include "kernels/mxfp4/mxfp4.h"
#include "kernels/panel/paths.h"

namespace assay::kernels {
namespace {

bool Always() {
  return true;
}

const PanelPath kPaths[] = {
    {"avx512bf16", PanelFormat::kBf16, RowFormat::kBf16, Bf16ByBf16Avx512, HasBf16DotProduct},
    {"avx512bf16", PanelFormat::kMxfp4, RowFormat::kBf16, Mxfp4ByBf16Avx512, HasBf16DotProduct},
    {"float32", PanelFormat::kBf16, RowFormat::kFloat32, Bf16ByFloat, Always},
    {"float32", PanelFormat::kMxfp4, RowFormat::kFloat32, Mxfp4ByFloat, Always},
    {"avx512vnni", PanelFormat::kInt8, RowFormat::kInt8, Int8ByInt8Avx512, HasAvx512Vnni},
    {"avx512vnni", PanelFormat::kMxfp4, RowFormat::kInt8, Mxfp4ByInt8Avx512, HasAvx512Vnni},
    {"avx2", PanelFormat::kInt8, RowFormat::kInt8, Int8ByInt8Avx2, HasAvx2},
    {"avx2", PanelFormat::kMxfp4, RowFormat::kInt8, Mxfp4ByInt8Avx2, HasAvx2},
    {"portable", PanelFormat::kInt8, RowFormat::kInt8, Int8ByInt8Portable, Always},
    {"portable", PanelFormat::kMxfp4, RowFormat::kInt8, Mxfp4ByInt8Portable, Always},
};

PanelFunction Choose(PanelFormat weights, RowFormat rows) {
  for (const PanelPath& path : kPaths) {
    if (path.weights == weights && path.rows == rows && path.available()) return path.multiply;
  }
  return nullptr;
}

struct Choices {
  PanelFunction functions[3][3];
  Choices() {
    for (int weights = 0; weights < 3; ++weights) {
      for (int rows = 0; rows < 3; ++rows) {
        functions[weights][rows] = Choose(static_cast<PanelFormat>(weights), static_cast<RowFormat>(rows));
      }
    }
  }
};

}  // namespace

std::span<const PanelPath> PanelPaths() {
  return kPaths;
}

void PanelMatmul(PanelFormat format, const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  static const Choices choices;
  const PanelFunction multiply = choices.functions[static_cast<int>(format)][static_cast<int>(rows.format)];
  CHECK(multiply != nullptr);
  if (rows.count == 0) return;
  multiply(panel, k, rows, out);
}

int64_t PanelBytes(PanelFormat format, int64_t k) {
  switch (format) {
    case PanelFormat::kBf16:
      return k * kPanel * 2;
    case PanelFormat::kInt8:
      return Int8Blocks(k) * static_cast<int64_t>(sizeof(Int8PanelBlock));
    case PanelFormat::kMxfp4:
      return Mxfp4PanelBytes(k);
  }
  return 0;
}

}  // namespace assay::kernels
