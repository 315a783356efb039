#pragma once

// A layer's experts and a batch for them in device memory, and the ways to multiply them.
#include <algorithm>

#include "kernels/expert_matmul/expert_fused_gpu.h"
#include "kernels/expert_matmul/expert_matmul_gpu.h"
#include "kernels/expert_matmul/expert_test_support.h"
#include "kernels/fp8/fp8.h"
#include "kernels/gpu/gpu_test_support.h"
#include "kernels/mxfp4/mxfp4.h"
#include "kernels/routing/metadata.h"
#include "kernels/routing/routing_gpu.h"
#include "kernels/routing/top_k.h"

namespace assay::kernels::gpu {

struct Batch {
  int64_t tokens, k;
  std::vector<float> x, weights;
  std::vector<int32_t> ids;
};
inline Batch MakeBatch(int64_t tokens, int64_t experts, int64_t k, int64_t hidden, uint32_t seed = 1) {
  TestData data(seed);
  Batch batch{tokens, k, Widened(Rounded(data.Values(tokens * hidden, 0.5f))), {}, {}};
  batch.ids.resize(static_cast<size_t>(tokens * k));
  batch.weights.resize(batch.ids.size());
  assay::kernels::TopK({tokens, experts, k}, data.Values(tokens * experts).data(), {}, batch.ids.data(),
                       batch.weights.data());
  return batch;
}

enum class Format { kMxfp4, kBf16 };

// What is the same for all of a test's products.
struct Way {
  Format format = Format::kMxfp4;
  float gate_up_scale = 0, down_scale = 0;  // of FP8 activations; 0: bf16
  bool few_rows = false;
};

class ExpertsOnDevice {
 public:
  ExpertsOnDevice(const Stream& stream, const RandomExperts& layer, const Batch& batch, int64_t block,
                  const Way& way)
      : stream_(stream),
        way_(way),
        tokens_(batch.tokens),
        k_(batch.k),
        experts_(layer.tensors.experts),
        hidden_(layer.tensors.hidden),
        block_(block) {
    const int64_t gates = tokens_ * k_, intermediate = layer.tensors.intermediate;
    w1_ = Input(stream, layer.gate_up_blocks), s1_ = Input(stream, layer.gate_up_scales);
    w2_ = Input(stream, layer.down_blocks), s2_ = Input(stream, layer.down_scales);
    b1_ = Input(stream, layer.gate_up_bias), b2_ = Input(stream, layer.down_bias);
    if (way.format == Format::kBf16) {
      open1_ = Input(stream, Opened(layer.gate_up_blocks, layer.gate_up_scales));
      open2_ = Input(stream, Opened(layer.down_blocks, layer.down_scales));
    }
    layer_ = {{w1_.data(), s1_.data(), open1_.data(), b1_.data(), 2 * intermediate, hidden_,
               Fp8() ? way.gate_up_scale : 1, Largest(layer.gate_up_scales), Fp8()},
              {w2_.data(), s2_.data(), open2_.data(), b2_.data(), hidden_, intermediate,
               Fp8() ? way.down_scale : 1, Largest(layer.down_scales), Fp8()},
              7.0f};
    x_ = DeviceBuffer<Bf16>(tokens_ * hidden_, "a test's input");
    ids_ = DeviceBuffer<int32_t>(gates, "a test's input");
    weights_ = DeviceBuffer<float>(gates, "a test's input");
    bits_ = Unwritten<uint32_t>(stream, tokens_ * ((experts_ + 31) / 32));
    col_sum_ = Unwritten<int32_t>(stream, experts_), offsets_ = Unwritten<int32_t>(stream, experts_ + 1);
    col_sorted_ = Unwritten<int32_t>(stream, gates), row_sorted_ = Unwritten<int32_t>(stream, gates);
    schedule_ = Unwritten<int32_t>(stream, MaxTiles(gates, experts_, block));
    a_ = DeviceBuffer<Bf16>(gates * intermediate, "a test's result");
    out_ = DeviceBuffer<float>(gates * hidden_, "a test's result");
    y_ = DeviceBuffer<float>(tokens_ * hidden_, "a test's result");
    Take(batch);
  }

  // Another batch of as many tokens, and where its gates go. y begins as zeros.
  void Take(const Batch& batch) {
    Load(batch);
    PackBitmatrix(stream_.handle(), RoutingOf());
    GroupGates(stream_.handle(), RoutingOf());
    Clear();
  }
  // The same with bits that give each token all experts, which are more gates than there are.
  void TakeWithWrongBits(const Batch& batch) {
    Load(batch);
    stream_.Fill(bits_.data(), 0xFF, bits_.bytes());
    GroupGates(stream_.handle(), RoutingOf());
    Clear();
  }
  // What a product that wrote nothing would leave: NaNs between, zeros in y.
  void Clear() const {
    stream_.Fill(a_.data(), 0xFF, a_.bytes());
    stream_.Fill(out_.data(), 0xFF, out_.bytes());
    stream_.Fill(y_.data(), 0, y_.bytes());
  }

  ExpertLayer Layer() const { return layer_; }
  ExpertBatch Batched() const {
    return {tokens_,
            k_,
            experts_,
            block_,
            offsets_.data(),
            col_sorted_.data(),
            row_sorted_.data(),
            schedule_.data(),
            weights_.data(),
            way_.few_rows};
  }
  int64_t Hidden() const { return hidden_; }

  // Adds the experts' share to y.
  void Grouped() const {
    ExpertGateUp(stream_.handle(), layer_, Batched(), x_.data(), a_.data(), Fp8());
    ExpertDown(stream_.handle(), layer_, Batched(), a_.data(), out_.data());
    ExpertCombine(stream_.handle(), Batched(), out_.data(), hidden_, y_.data());
  }
  void Fused(const DeviceBuffer<uint32_t>& counters) const {
    ExpertsFused(stream_.handle(), layer_, Batched(), x_.data(), Fp8(), a_.data(), out_.data(), y_.data(),
                 counters.data());
  }
  std::vector<float> Result() const { return ToHost(stream_, y_); }  // y [tokens, hidden]

 private:
  bool Fp8() const { return way_.gate_up_scale > 0; }

  // [experts, columns, k] of MXFP4 as bf16 rows.
  static std::vector<Bf16> Opened(const std::vector<uint8_t>& blocks, const std::vector<uint8_t>& scales) {
    std::vector<float> values(scales.size() * 32);
    DecodeMxfp4(blocks.data(), scales.data(), static_cast<int64_t>(scales.size()), values.data());
    return Rounded(values);
  }
  static int Largest(const std::vector<uint8_t>& scales) {
    return *std::max_element(scales.begin(), scales.end());
  }

  void Load(const Batch& batch) {
    std::vector<float> x = batch.x;
    if (Fp8())
      EncodeToFp8Reference(Fp8::kE4M3FN, way_.gate_up_scale, static_cast<int64_t>(x.size()), x.data());
    const std::vector<Bf16> rounded = Rounded(x);
    stream_.CopyToDevice(x_.data(), rounded.data(), x_.bytes());
    stream_.CopyToDevice(ids_.data(), batch.ids.data(), ids_.bytes());
    stream_.CopyToDevice(weights_.data(), batch.weights.data(), weights_.bytes());
    stream_.Wait("a test's input");  // `rounded` goes away
  }
  Routing RoutingOf() const {
    return {tokens_,
            experts_,
            k_,
            nullptr,
            nullptr,
            block_,
            ids_.data(),
            weights_.data(),
            bits_.data(),
            col_sum_.data(),
            offsets_.data(),
            col_sorted_.data(),
            row_sorted_.data(),
            schedule_.data(),
            nullptr,
            nullptr};
  }

  const Stream& stream_;
  Way way_;
  int64_t tokens_, k_, experts_, hidden_, block_;
  DeviceBuffer<uint8_t> w1_, s1_, w2_, s2_;
  DeviceBuffer<Bf16> open1_, open2_, x_, a_;
  DeviceBuffer<float> b1_, b2_, weights_, out_, y_;
  DeviceBuffer<int32_t> ids_, col_sum_, offsets_, col_sorted_, row_sorted_, schedule_;
  DeviceBuffer<uint32_t> bits_;
  ExpertLayer layer_{};
};

// What `y` should be, from zeros.
inline std::vector<float> ExpectedOfExperts(const ExpertTensors& tensors, const Batch& batch) {
  std::vector<float> expected(static_cast<size_t>(batch.tokens * tensors.hidden));
  ExpertMatmulReference(tensors, batch.x.data(), batch.tokens, batch.k, batch.ids.data(),
                        batch.weights.data(), expected.data());
  return expected;
}

}  // namespace assay::kernels::gpu
