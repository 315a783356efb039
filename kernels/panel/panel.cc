#include "kernels/panel/panel.h"

#include "base/check.h"

namespace assay::kernels {
namespace {

PanelFunction Choose() {
  return Avx512Bf16PanelMatmul() != nullptr ? Avx512Bf16PanelMatmul() : PortablePanelMatmul();
}

}  // namespace

void PanelMatmul(const Panels& panels, const PanelRows& rows, float* out, int64_t out_stride) {
  static const PanelFunction function = Choose();
  CHECK_EQ(panels.k % 2, 0);
  CHECK(rows.terms == 1 || rows.terms == 2);
  function(panels, rows, out, out_stride);
}

void PackPanels(const Bf16* weights, int64_t columns, int64_t k, Bf16* panels) {
  for (int64_t column = 0; column < PanelCount(columns) * kPanel; ++column) {
    Bf16* panel = panels + column / kPanel * PanelElements(k);
    for (int64_t i = 0; i < k; ++i) {
      panel[(i / 2 * kPanel + column % kPanel) * 2 + i % 2] = column < columns ? weights[column * k + i] : 0;
    }
  }
}

}  // namespace assay::kernels
