#include <algorithm>

#include "base/check.h"
#include "kernels/expert_matmul/expert_matmul.h"

namespace assay::kernels {
namespace {

void PackGateUp(const ExpertTensors& from, ExpertWeights& to) {
  const int64_t rows = 2 * from.intermediate, panel_bytes = Mxfp4PanelBytes(from.hidden);
  for (int64_t e = 0; e < from.experts; ++e) {
    for (int64_t p = 0; p < to.GateUpPanels(); ++p) {
      for (int64_t up = 0; up < 2; ++up) {
        const int64_t panel = (e * to.GateUpPanels() + p) * 2 + up;
        int64_t columns[kPanel];
        for (int64_t n = 0; n < kPanel; ++n) {
          columns[n] = e * rows + 2 * (p * kPanel + n) + up;
          to.gate_up_bias[panel * kPanel + n] = from.gate_up_bias[static_cast<size_t>(columns[n])];
        }
        PackMxfp4Panel(from.gate_up_blocks, from.gate_up_scales, from.hidden, columns,
                       to.gate_up.data() + panel * panel_bytes);
      }
    }
  }
}

void PackDown(const ExpertTensors& from, ExpertWeights& to) {
  const int64_t panel_bytes = Mxfp4PanelBytes(from.intermediate);
  for (int64_t e = 0; e < from.experts; ++e) {
    for (int64_t p = 0; p < to.DownPanels(); ++p) {
      int64_t columns[kPanel];
      for (int64_t n = 0; n < kPanel; ++n) columns[n] = e * from.hidden + p * kPanel + n;
      PackMxfp4Panel(from.down_blocks, from.down_scales, from.intermediate, columns,
                     to.down.data() + (e * to.DownPanels() + p) * panel_bytes);
    }
  }
  std::copy(from.down_bias.begin(), from.down_bias.end(), to.down_bias.data());
}

}  // namespace

ExpertWeights PackExperts(const ExpertTensors& from) {
  CHECK_EQ(from.hidden % kMxBlock, 0);
  CHECK_EQ(from.intermediate % kMxBlock, 0);
  ExpertWeights to;
  to.experts = from.experts;
  to.hidden = from.hidden;
  to.intermediate = from.intermediate;
  to.swiglu_limit = from.swiglu_limit;
  to.gate_up = Aligned<uint8_t>(from.experts * to.GateUpPanels() * 2 * Mxfp4PanelBytes(from.hidden));
  to.down = Aligned<uint8_t>(from.experts * to.DownPanels() * Mxfp4PanelBytes(from.intermediate));
  to.gate_up_bias = Aligned<float>(from.experts * 2 * from.intermediate);
  to.down_bias = Aligned<float>(from.experts * from.hidden);
  PackGateUp(from, to);
  PackDown(from, to);
  return to;
}

}  // namespace assay::kernels
