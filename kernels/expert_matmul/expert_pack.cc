#include <algorithm>

#include "base/check.h"
#include "kernels/expert_matmul/expert_matmul.h"

namespace assay::kernels {
namespace {

// A panel of bf16 weights [k, columns] with the input axis first, as PackBf16Panels lays it out.
void PackTransposed(const Bf16* weights, int64_t k, int64_t stride, const int64_t* columns, uint8_t* packed) {
  auto* panel = reinterpret_cast<Bf16*>(packed);
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t n = 0; n < kPanel; ++n) {
      panel[(i / 2 * kPanel + n) * 2 + i % 2] = weights[i * stride + columns[n]];
    }
  }
}

void PackGateUp(const ExpertTensors& from, ExpertWeights& to) {
  const int64_t rows = 2 * from.intermediate, panel_bytes = PanelBytes(to.format, from.hidden);
  for (int64_t e = 0; e < from.experts; ++e) {
    for (int64_t p = 0; p < to.GateUpPanels(); ++p) {
      for (int64_t up = 0; up < 2; ++up) {
        const int64_t panel = (e * to.GateUpPanels() + p) * 2 + up;
        int64_t columns[kPanel];
        for (int64_t n = 0; n < kPanel; ++n) {
          columns[n] = e * rows + 2 * (p * kPanel + n) + up;
          to.gate_up_bias[panel * kPanel + n] = from.gate_up_bias[static_cast<size_t>(columns[n])];
        }
        uint8_t* packed = to.gate_up.data() + panel * panel_bytes;
        if (to.format == PanelFormat::kMxfp4) {
          PackMxfp4Panel(from.gate_up_blocks, from.gate_up_scales, from.hidden, columns, packed);
        } else {
          for (int64_t& column : columns) column -= e * rows;
          PackTransposed(from.gate_up_bf16 + e * rows * from.hidden, from.hidden, rows, columns, packed);
        }
      }
    }
  }
}

void PackDown(const ExpertTensors& from, ExpertWeights& to) {
  const int64_t panel_bytes = PanelBytes(to.format, from.intermediate);
  for (int64_t e = 0; e < from.experts; ++e) {
    for (int64_t p = 0; p < to.DownPanels(); ++p) {
      int64_t columns[kPanel];
      const int64_t first = to.format == PanelFormat::kMxfp4 ? e * from.hidden : 0;
      for (int64_t n = 0; n < kPanel; ++n) columns[n] = first + p * kPanel + n;
      uint8_t* packed = to.down.data() + (e * to.DownPanels() + p) * panel_bytes;
      if (to.format == PanelFormat::kMxfp4) {
        PackMxfp4Panel(from.down_blocks, from.down_scales, from.intermediate, columns, packed);
      } else {
        PackTransposed(from.down_bf16 + e * from.intermediate * from.hidden, from.intermediate, from.hidden,
                       columns, packed);
      }
    }
  }
  std::copy(from.down_bias.begin(), from.down_bias.end(), to.down_bias.data());
}

}  // namespace

Activations ExpertActivations(bool bf16_weights, bool fp8_codes, Activations wish) {
  if (fp8_codes) return Activations::kBf16;
  if (bf16_weights && wish == Activations::kInt8) return Activations::kBf16Pair;
  return wish;
}

ExpertWeights PackExperts(const ExpertTensors& from) {
  CHECK_EQ(from.hidden % kMxBlock, 0);
  CHECK_EQ(from.intermediate % kMxBlock, 0);
  ExpertWeights to;
  to.experts = from.experts;
  to.hidden = from.hidden;
  to.intermediate = from.intermediate;
  to.swiglu_limit = from.swiglu_limit;
  to.format = from.gate_up_bf16 != nullptr ? PanelFormat::kBf16 : PanelFormat::kMxfp4;
  to.gate_up_input_scale = from.gate_up_input_scale;
  to.down_input_scale = from.down_input_scale;
  to.gate_up = Aligned<uint8_t>(from.experts * to.GateUpPanels() * 2 * PanelBytes(to.format, from.hidden));
  to.down = Aligned<uint8_t>(from.experts * to.DownPanels() * PanelBytes(to.format, from.intermediate));
  to.gate_up_bias = Aligned<float>(from.experts * 2 * from.intermediate);
  to.down_bias = Aligned<float>(from.experts * from.hidden);
  PackGateUp(from, to);
  PackDown(from, to);
  return to;
}

}  // namespace assay::kernels
