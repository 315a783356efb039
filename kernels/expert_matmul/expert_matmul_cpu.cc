#include <algorithm>

#include "kernels/expert_matmul/expert_matmul.h"
#include "kernels/swiglu/swiglu.h"

namespace assay::kernels {
namespace {

constexpr int64_t kRowTile = 48;
constexpr int64_t kMaxPanels = 4;
constexpr int64_t kSumStride = kMaxPanels * kPanel;

// A run of sorted positions of one expert and the panels decoded for it.
struct Step {
  int64_t expert;
  int64_t panel, count;   // panels [panel, panel + count) of the expert
  int64_t begin, n_rows;  // positions [begin, begin + n_rows)
  const float* sums;      // [n_rows, kSumStride]
};

// Every expert's rows times its panels [first, last): decodes each panel once, multiplies 48 rows at a time,
// hands the sums to `finish`. row(p) is the input of position p.
template <class Row, class Finish>
void ForEachExpert(const RoutingMetadata& routing, int64_t experts, int64_t panels, int64_t k,
                   const uint8_t* packed, int64_t first, int64_t last, int64_t at_a_time, Bf16* scratch,
                   const Row& row, const Finish& finish) {
  alignas(64) float sums[kRowTile * kSumStride];
  const int64_t panel_bytes = Mxfp4PanelBytes(k);
  for (int64_t e = 0; e < experts; ++e) {
    const int64_t begin = routing.expert_offsets[static_cast<size_t>(e)];
    const int64_t end = routing.expert_offsets[static_cast<size_t>(e + 1)];
    if (begin == end) continue;
    for (int64_t panel = first; panel < last; panel += at_a_time) {
      const int64_t count = std::min(at_a_time, last - panel);
      for (int64_t p = 0; p < count; ++p) {
        DecodeMxfp4Panel(packed + (e * panels + panel + p) * panel_bytes, k, scratch + p * PanelElements(k));
      }
      for (int64_t position = begin; position < end; position += kRowTile) {
        const int64_t n_rows = std::min(kRowTile, end - position);
        const Bf16* rows[kRowTile];
        for (int64_t r = 0; r < n_rows; ++r) rows[r] = row(position + r);
        PanelMatmul(scratch, count, k, rows, n_rows, sums, kSumStride);
        finish(Step{e, panel, count, position, n_rows, sums});
      }
    }
  }
}

}  // namespace

void ExpertGateUp(const ExpertWeights& weights, const RoutingMetadata& routing, int64_t k, const Bf16* x,
                  int64_t first, int64_t last, ExpertScratch& scratch, Bf16* a) {
  const auto row = [&](int64_t position) {
    return x + routing.col_sorted[static_cast<size_t>(position)] / k * weights.hidden;
  };
  const auto gate = [&](const Step& step) {
    for (int64_t p = 0; p < step.count; ++p) {
      const float* bias =
          weights.gate_up_bias.data() + (step.expert * weights.GateUpPanels() + step.panel + p) * kPanel;
      for (int64_t r = 0; r < step.n_rows; ++r) {
        const float* sum = step.sums + r * kSumStride + p * kPanel;
        alignas(64) float h[kPanel], y[16];
        for (int64_t n = 0; n < kPanel; ++n) h[n] = sum[n] + bias[n];
        Swiglu(h, h + 16, 16, weights.swiglu_limit, y);
        RoundToBf16(y, 16, a + (step.begin + r) * weights.intermediate + (step.panel + p) * 16);
      }
    }
  };
  ForEachExpert(routing, weights.experts, weights.GateUpPanels(), weights.hidden, weights.gate_up.data(),
                first, last, scratch.panels_of_gate_up, scratch.panels.data(), row, gate);
}

void ExpertDown(const ExpertWeights& weights, const RoutingMetadata& routing, int64_t k, const Bf16* a,
                const float* gate_weights, int64_t first, int64_t last, ExpertScratch& scratch, float* y) {
  const auto row = [&](int64_t position) { return a + position * weights.intermediate; };
  const auto add = [&](const Step& step) {
    const int64_t column = step.panel * kPanel;
    const float* bias = weights.down_bias.data() + step.expert * weights.hidden + column;
    for (int64_t r = 0; r < step.n_rows; ++r) {
      const int64_t g = routing.col_sorted[static_cast<size_t>(step.begin + r)];
      const float* sum = step.sums + r * kSumStride;
      float* out = y + g / k * weights.hidden + column;
      for (int64_t n = 0; n < step.count * kPanel; ++n) out[n] += gate_weights[g] * (sum[n] + bias[n]);
    }
  };
  ForEachExpert(routing, weights.experts, weights.DownPanels(), weights.intermediate, weights.down.data(),
                first, last, scratch.panels_of_down, scratch.panels.data(), row, add);
}

}  // namespace assay::kernels
