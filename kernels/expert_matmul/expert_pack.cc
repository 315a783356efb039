#include <algorithm>

#include "base/check.h"
#include "kernels/expert_matmul/expert_matmul.h"

namespace assay::kernels {
namespace {

constexpr int64_t kScratchBytes = 256 << 10;  // stays in a core's second-level cache
constexpr int64_t kMaxPanels = 4;

int64_t PanelsAtATime(int64_t k) {
  return std::clamp<int64_t>(kScratchBytes / (PanelElements(k) * 2), 1, kMaxPanels);
}

void PackGateUp(const ExpertTensors& from, ExpertWeights& to) {
  const int64_t rows = 2 * from.intermediate, panel_bytes = Mxfp4PanelBytes(from.hidden);
  for (int64_t e = 0; e < from.experts; ++e) {
    for (int64_t p = 0; p < to.GateUpPanels(); ++p) {
      int64_t columns[kPanel];
      for (int64_t n = 0; n < kPanel; ++n) {
        const int64_t i = p * 16 + n % 16;
        columns[n] = e * rows + 2 * i + n / 16;
        to.gate_up_bias[e * rows + p * kPanel + n] = from.gate_up_bias[static_cast<size_t>(columns[n])];
      }
      PackMxfp4Panel(from.gate_up_blocks, from.gate_up_scales, from.hidden, columns,
                     to.gate_up.data() + (e * to.GateUpPanels() + p) * panel_bytes);
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
  to.gate_up = Aligned<uint8_t>(from.experts * to.GateUpPanels() * Mxfp4PanelBytes(from.hidden));
  to.down = Aligned<uint8_t>(from.experts * to.DownPanels() * Mxfp4PanelBytes(from.intermediate));
  to.gate_up_bias = Aligned<float>(from.experts * 2 * from.intermediate);
  to.down_bias = Aligned<float>(from.experts * from.hidden);
  PackGateUp(from, to);
  PackDown(from, to);
  return to;
}

ExpertScratch::ExpertScratch(const ExpertWeights& weights)
    : panels_of_gate_up(PanelsAtATime(weights.hidden)), panels_of_down(PanelsAtATime(weights.intermediate)) {
  panels = Aligned<Bf16>(std::max(panels_of_gate_up * PanelElements(weights.hidden),
                                  panels_of_down * PanelElements(weights.intermediate)));
}

}  // namespace assay::kernels
