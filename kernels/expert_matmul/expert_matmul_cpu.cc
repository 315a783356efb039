#include <algorithm>

#include "kernels/expert_matmul/expert_matmul.h"
#include "kernels/swiglu/swiglu.h"

namespace assay::kernels {
namespace {

constexpr int64_t kRowTile = 48;
constexpr int64_t kMaxPanels = 4;
constexpr int64_t kSumStride = kMaxPanels * kPanel;

// One of an expert layer's two matrices.
struct Matrix {
  const uint8_t* packed;
  int64_t experts, panels, k;
  const float* bias;  // [experts, panels * 32]
  int64_t panels_at_a_time;
};

// Rows of one expert times some of its panels, bias added.
struct Step {
  int64_t panel, count;   // panels [panel, panel + count)
  int64_t begin, n_rows;  // sorted positions [begin, begin + n_rows)
  const float* sums;      // [n_rows, kSumStride]
};

void AddBias(const float* bias, int64_t width, int64_t n_rows, float* sums) {
  for (int64_t r = 0; r < n_rows; ++r) {
    for (int64_t n = 0; n < width; ++n) sums[r * kSumStride + n] += bias[n];
  }
}

// Every expert's rows times its panels [first, last): decodes each panel once, multiplies 48 rows at a time
// and hands the result to `finish`. row(p) is the input of position p.
template <class Row, class Finish>
void ForEachExpert(const Matrix& matrix, const ExpertBatch& batch, int64_t first, int64_t last, Bf16* scratch,
                   const Row& row, const Finish& finish) {
  alignas(64) float sums[kRowTile * kSumStride];
  const int64_t panel_bytes = Mxfp4PanelBytes(matrix.k);
  for (int64_t e = 0; e < matrix.experts; ++e) {
    const int64_t begin = batch.routing.expert_offsets[static_cast<size_t>(e)];
    const int64_t end = batch.routing.expert_offsets[static_cast<size_t>(e + 1)];
    if (begin == end) continue;
    for (int64_t panel = first; panel < last; panel += matrix.panels_at_a_time) {
      const int64_t count = std::min(matrix.panels_at_a_time, last - panel);
      const int64_t index = e * matrix.panels + panel;
      for (int64_t p = 0; p < count; ++p) {
        DecodeMxfp4Panel(matrix.packed + (index + p) * panel_bytes, matrix.k,
                         scratch + p * PanelElements(matrix.k));
      }
      for (int64_t position = begin; position < end; position += kRowTile) {
        const int64_t n_rows = std::min(kRowTile, end - position);
        const Bf16* rows[kRowTile];
        for (int64_t r = 0; r < n_rows; ++r) rows[r] = row(position + r);
        PanelMatmul({scratch, count, matrix.k}, {rows, n_rows, batch.terms}, sums, kSumStride);
        AddBias(matrix.bias + index * kPanel, count * kPanel, n_rows, sums);
        finish(Step{panel, count, position, n_rows, sums});
      }
    }
  }
}

// a[n] += b[n] * factor
void AddScaled(const float* from, float factor, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

}  // namespace

void ExpertGateUp(const ExpertWeights& weights, const ExpertBatch& batch, const Bf16* x, int64_t first,
                  int64_t last, ExpertScratch& scratch, Bf16* a) {
  const Matrix matrix{weights.gate_up.data(),      weights.experts,
                      weights.GateUpPanels(),      weights.hidden,
                      weights.gate_up_bias.data(), scratch.panels_of_gate_up};
  const auto row = [&](int64_t position) {
    const int64_t token = batch.routing.col_sorted[static_cast<size_t>(position)] / batch.k;
    return x + token * batch.terms * weights.hidden;
  };
  const auto gate = [&](const Step& step) {
    for (int64_t r = 0; r < step.n_rows; ++r) {
      alignas(64) float y[kMaxPanels * 16];
      for (int64_t p = 0; p < step.count; ++p) {
        const float* sum = step.sums + r * kSumStride + p * kPanel;
        Swiglu(sum, sum + 16, 16, weights.swiglu_limit, y + p * 16);
      }
      Bf16* to = a + (step.begin + r) * batch.terms * weights.intermediate + step.panel * 16;
      alignas(64) Bf16 split[2 * kMaxPanels * 16];
      SplitToBf16(y, step.count * 16, batch.terms, split);
      for (int64_t term = 0; term < batch.terms; ++term) {
        std::copy_n(split + term * step.count * 16, step.count * 16, to + term * weights.intermediate);
      }
    }
  };
  ForEachExpert(matrix, batch, first, last, scratch.panels.data(), row, gate);
}

void ExpertDown(const ExpertWeights& weights, const ExpertBatch& batch, const Bf16* a,
                const float* gate_weights, int64_t first, int64_t last, ExpertScratch& scratch, float* y) {
  const Matrix matrix{weights.down.data(),  weights.experts,          weights.DownPanels(),
                      weights.intermediate, weights.down_bias.data(), scratch.panels_of_down};
  const auto row = [&](int64_t position) { return a + position * batch.terms * weights.intermediate; };
  const auto add = [&](const Step& step) {
    for (int64_t r = 0; r < step.n_rows; ++r) {
      const int64_t g = batch.routing.col_sorted[static_cast<size_t>(step.begin + r)];
      AddScaled(step.sums + r * kSumStride, gate_weights[g], step.count * kPanel,
                y + g / batch.k * weights.hidden + step.panel * kPanel);
    }
  };
  ForEachExpert(matrix, batch, first, last, scratch.panels.data(), row, add);
}

}  // namespace assay::kernels
