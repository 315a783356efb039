#include <algorithm>

#include "base/check.h"
#include "kernels/expert_matmul/expert_matmul.h"
#include "kernels/fp8/fp8.h"
#include "kernels/swiglu/swiglu.h"

namespace assay::kernels {
namespace {

constexpr int64_t kRowTile = 96;

// Some of one expert's rows: sorted positions [begin, begin + count).
struct Rows {
  int64_t expert, begin, count;
  PanelRows activations;
};

// Calls visit(Rows) for every expert that has rows, at most kRowTile of them at a time. row(p) is the row of
// x that position p takes.
template <class Row, class Visit>
void ForEachExpert(int64_t experts, const ExpertBatch& batch, const ActivationRows& x, const Row& row,
                   const Visit& visit) {
  const uint8_t* pointers[kRowTile];
  for (int64_t e = 0; e < experts; ++e) {
    const int64_t end = batch.routing.expert_offsets[static_cast<size_t>(e + 1)];
    for (int64_t p = batch.routing.expert_offsets[static_cast<size_t>(e)]; p < end; p += kRowTile) {
      const int64_t count = std::min(kRowTile, end - p);
      for (int64_t r = 0; r < count; ++r) pointers[r] = x.Row(row(p + r));
      visit(Rows{e, p, count, {x.Format(), x.Terms(), pointers, count}});
    }
  }
}

// What a unit of the rows is worth. Multiplying by 1 changes no bit.
float Worth(float input_scale) {
  return input_scale > 0 ? input_scale : 1;
}

// y += factor * (worth * sums + bias)
void AddScaled(const float* sums, float worth, const float* bias, float factor, float* y) {
  for (int64_t n = 0; n < kPanel; ++n) y[n] += factor * (sums[n] * worth + bias[n]);
}

void AddBias(const float* bias, float worth, float* sums) {
  for (int64_t n = 0; n < kPanel; ++n) sums[n] = sums[n] * worth + bias[n];
}

}  // namespace

void ExpertGateUp(const ExpertWeights& weights, const ExpertBatch& batch, const ActivationRows& x,
                  int64_t first, int64_t last, ActivationRows& a) {
  CHECK_EQ(x.K(), weights.hidden);
  CHECK_EQ(a.K(), weights.intermediate);
  alignas(64) float gates[kRowTile * kPanel], ups[kRowTile * kPanel], gated[kPanel];
  const int64_t panel_bytes = PanelBytes(weights.format, weights.hidden);
  const float worth = Worth(weights.gate_up_input_scale);
  const auto token = [&](int64_t position) {
    return batch.routing.col_sorted[static_cast<size_t>(position)] / batch.k;
  };
  ForEachExpert(weights.experts, batch, x, token, [&](const Rows& rows) {
    for (int64_t panel = first; panel < last; ++panel) {
      const int64_t index = (rows.expert * weights.GateUpPanels() + panel) * 2;
      const uint8_t* packed = weights.gate_up.data() + index * panel_bytes;
      PanelMatmul(weights.format, packed, weights.hidden, rows.activations, gates);
      PanelMatmul(weights.format, packed + panel_bytes, weights.hidden, rows.activations, ups);
      const float* bias = weights.gate_up_bias.data() + index * kPanel;
      for (int64_t r = 0; r < rows.count; ++r) {
        AddBias(bias, worth, gates + r * kPanel);
        AddBias(bias + kPanel, worth, ups + r * kPanel);
        Swiglu(gates + r * kPanel, ups + r * kPanel, kPanel, weights.swiglu_limit, gated);
        if (weights.down_input_scale > 0) EncodeToFp8(Fp8::kE4M3FN, weights.down_input_scale, kPanel, gated);
        a.SetColumns(rows.begin + r, panel * kPanel, kPanel, gated);
      }
    }
  });
}

void ExpertDown(const ExpertWeights& weights, const ExpertBatch& batch, const ActivationRows& a,
                const float* gate_weights, int64_t first, int64_t last, float* y) {
  CHECK_EQ(a.K(), weights.intermediate);
  alignas(64) float sums[kRowTile * kPanel];
  const int64_t panel_bytes = PanelBytes(weights.format, weights.intermediate);
  const float worth = Worth(weights.down_input_scale);
  const auto itself = [](int64_t position) { return position; };
  ForEachExpert(weights.experts, batch, a, itself, [&](const Rows& rows) {
    for (int64_t panel = first; panel < last; ++panel) {
      const int64_t index = rows.expert * weights.DownPanels() + panel;
      PanelMatmul(weights.format, weights.down.data() + index * panel_bytes, weights.intermediate,
                  rows.activations, sums);
      for (int64_t r = 0; r < rows.count; ++r) {
        const int64_t g = batch.routing.col_sorted[static_cast<size_t>(rows.begin + r)];
        AddScaled(sums + r * kPanel, worth, weights.down_bias.data() + index * kPanel, gate_weights[g],
                  y + g / batch.k * weights.hidden + panel * kPanel);
      }
    }
  });
}

}  // namespace assay::kernels
