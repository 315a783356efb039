// The whole forward pass from the definitions in kernels/*_reference.cc: float32 values, sums in double, one
// thread, real rows only. Slow; it is what the other backend is compared with.
#include <algorithm>
#include <cmath>

#include "engine/model/backends.h"
#include "engine/model/batch_rows.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layer_experts.h"
#include "kernels/dense_matmul/dense_matmul.h"
#include "kernels/expert_matmul/expert_matmul.h"
#include "kernels/fp8/fp8.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/routing/top_k.h"

namespace assay::engine {
namespace {

using Floats = std::vector<float>;

struct Linear {
  Floats weight, bias;
  int64_t columns, k;
  explicit Linear(const LinearTensors& from)
      : weight(Widen(from.weight)),
        bias(Widen(from.bias)),
        columns(static_cast<int64_t>(bias.size())),
        k(static_cast<int64_t>(weight.size()) / columns) {}
  Floats operator()(const Floats& x) const {
    const int64_t rows = static_cast<int64_t>(x.size()) / k;
    Floats y(static_cast<size_t>(rows * columns));
    kernels::DenseMatmulReference(x.data(), rows, k, weight.data(), bias.data(), columns, y.data());
    return y;
  }
};

// A copy: the checkpoint's files are closed after loading.
struct Experts {
  std::vector<uint8_t> gate_up_blocks, gate_up_scales, down_blocks, down_scales;
  std::vector<kernels::Bf16> gate_up_bf16, down_bf16;
  Floats gate_up_bias, down_bias;
  kernels::ExpertTensors tensors;

  explicit Experts(const kernels::ExpertTensors& from) : tensors(from) {
    const int64_t elements = from.experts * from.hidden * from.intermediate;
    Keep(tensors.gate_up_blocks, elements, gate_up_blocks);
    Keep(tensors.gate_up_scales, elements / 16, gate_up_scales);
    Keep(tensors.down_blocks, elements / 2, down_blocks);
    Keep(tensors.down_scales, elements / 32, down_scales);
    Keep(tensors.gate_up_bf16, 2 * elements, gate_up_bf16);
    Keep(tensors.down_bf16, elements, down_bf16);
    gate_up_bias.assign(from.gate_up_bias.begin(), from.gate_up_bias.end());
    down_bias.assign(from.down_bias.begin(), from.down_bias.end());
    tensors.gate_up_bias = gate_up_bias;
    tensors.down_bias = down_bias;
  }
  Experts(Experts&&) = default;

  template <class T>
  static void Keep(const T*& from, int64_t count, std::vector<T>& to) {
    if (from == nullptr) return;
    to.assign(from, from + count);
    from = to.data();
  }
};

struct Layer {
  bool sliding;
  Floats input_norm, post_attention_norm, sinks;
  Linear q, k, v, o, router;
  Experts experts;
  float key_scale, value_scale;

  Layer(const ModelConfig& config, const LayerTensors& from, bool is_sliding)
      : sliding(is_sliding),
        input_norm(Widen(from.input_norm)),
        post_attention_norm(Widen(from.post_attention_norm)),
        sinks(Widen(from.sinks)),
        q(from.q),
        k(from.k),
        v(from.v),
        o(from.o),
        router(from.router),
        experts(LayerExperts(config, from).tensors()),
        key_scale(from.key_scale),
        value_scale(from.value_scale) {}
};

void Add(const Floats& from, Floats& to) {
  std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>());
}

// As an FP8 cache would keep it. Scale 0: as it is.
void RoundToFp8(float scale, int64_t n, float* x) {
  if (scale > 0) kernels::RoundToFp8Reference(kernels::Fp8::kE4M3FN, scale, n, x);
}

class ReferenceModel : public Model {
 public:
  ReferenceModel(const Checkpoint& checkpoint, const ModelOptions& options)
      : config_(checkpoint.config),
        options_(options),
        embedding_(Widen(checkpoint.embedding)),
        norm_(Widen(checkpoint.norm)),
        lm_head_(Widen(checkpoint.lm_head)),
        rotary_(RotaryTableOf(config_, options)),
        cache_(config_, options) {
    for (size_t l = 0; l < checkpoint.layers.size(); ++l) {
      layers_.emplace_back(config_, checkpoint.layers[l], config_.sliding[l]);
      checkpoint.ReleaseFiles();
    }
  }

  const ModelConfig& Config() const override { return config_; }
  const std::string& WeightsHash() const override { return hash_; }
  void SetWeightsHash(std::string hash) { hash_ = std::move(hash); }

  void Forward(std::span<const Sequence> batch, int64_t padded_rows, std::vector<float>& logits) override {
    const BatchRows rows = LayOutRows(batch, padded_rows, config_, options_);
    const auto hidden = static_cast<size_t>(config_.hidden_size);
    Floats x;
    for (const int32_t token : rows.tokens) {
      const auto row = embedding_.begin() + token * config_.hidden_size;
      x.insert(x.end(), row, row + config_.hidden_size);
    }
    for (size_t l = 0; l < layers_.size(); ++l) {
      Add(layers_[l].o(Attend(static_cast<int64_t>(l), rows, Normed(x, layers_[l].input_norm))), x);
      AddExperts(layers_[l], Normed(x, layers_[l].post_attention_norm), x);
    }
    Floats last;
    for (const int64_t row : rows.wanted) {
      last.insert(last.end(), x.begin() + row * config_.hidden_size,
                  x.begin() + (row + 1) * config_.hidden_size);
    }
    last = Normed(last, norm_);
    logits.assign(last.size() / hidden * static_cast<size_t>(config_.vocab_size), 0);
    kernels::DenseMatmulReference(last.data(), static_cast<int64_t>(last.size() / hidden),
                                  config_.hidden_size, lm_head_.data(), nullptr, config_.vocab_size,
                                  logits.data());
  }

 private:
  Floats Normed(const Floats& x, const Floats& weight) const {
    Floats y(x.size());
    kernels::RmsNormReference(x.data(), static_cast<int64_t>(x.size() / weight.size()), config_.hidden_size,
                              weight.data(), config_.rms_norm_eps, y.data());
    return y;
  }

  // [rows, heads * head_dim]
  Floats Attend(int64_t layer_index, const BatchRows& rows, const Floats& t) {
    const Layer& layer = layers_[static_cast<size_t>(layer_index)];
    Floats q = layer.q(t), k = layer.k(t);
    Floats v = layer.v(t);
    Floats out(q.size());
    const int64_t dim = config_.head_dim, kv_heads = config_.num_key_value_heads;
    const int64_t stride = config_.num_attention_heads * dim, group = config_.num_attention_heads / kv_heads;
    for (const BatchRows::Part& part : rows.parts) {
      for (int64_t row = part.first_row; row < part.first_row + part.rows; ++row) {
        const int64_t position = rows.positions[static_cast<size_t>(row)];
        kernels::RotaryReference(rotary_, position, config_.num_attention_heads, q.data() + row * stride);
        kernels::RotaryReference(rotary_, position, kv_heads, k.data() + row * kv_heads * dim);
        RoundToFp8(layer.key_scale, kv_heads * dim, k.data() + row * kv_heads * dim);
        RoundToFp8(layer.value_scale, kv_heads * dim, v.data() + row * kv_heads * dim);
        const int64_t block = part.Blocks(layer.sliding)[static_cast<size_t>(position / options_.block_size)];
        for (int64_t head = 0; head < kv_heads; ++head) {
          const int64_t at = (row * kv_heads + head) * dim;
          kernels::StoreKeyValue(cache_.Head(layer_index, head), block, position % options_.block_size,
                                 &k[static_cast<size_t>(at)], &v[static_cast<size_t>(at)]);
        }
      }
      for (int64_t head = 0; head < kv_heads; ++head) {
        const int64_t at = part.first_row * stride + head * group * dim;
        kernels::AttentionReference(cache_.Head(layer_index, head),
                                    {q.data() + at, stride, out.data() + at, stride, part.rows, part.start,
                                     layer.sliding ? config_.sliding_window : 0, part.Blocks(layer.sliding),
                                     layer.sinks.data() + head * group, group,
                                     static_cast<float>(1 / std::sqrt(static_cast<double>(dim)))});
      }
    }
    return out;
  }

  void AddExperts(const Layer& layer, const Floats& t, Floats& x) const {
    const Floats logits = layer.router(t);
    const int64_t k = config_.num_experts_per_tok;
    const int64_t tokens = static_cast<int64_t>(t.size()) / config_.hidden_size;
    std::vector<int32_t> ids(static_cast<size_t>(tokens * k));
    Floats weights(ids.size());
    kernels::TopKReference({tokens, config_.num_local_experts, k}, logits.data(), {}, ids.data(),
                           weights.data());
    kernels::ExpertMatmulReference(layer.experts.tensors, t.data(), tokens, k, ids.data(), weights.data(),
                                   x.data());
  }

  ModelConfig config_;
  ModelOptions options_;
  std::string hash_;
  Floats embedding_, norm_, lm_head_;
  std::vector<Layer> layers_;
  kernels::RotaryTable rotary_;
  KvCache cache_;
};

}  // namespace

Result<std::unique_ptr<Model>> MakeReferenceModel(const Checkpoint& checkpoint, const ModelOptions& options,
                                                  std::future<Result<std::string>> weights_hash) {
  auto model = std::make_unique<ReferenceModel>(checkpoint, options);
  ASSIGN_OR_RETURN(std::string hash, weights_hash.get());
  model->SetWeightsHash(std::move(hash));
  return model;
}

}  // namespace assay::engine
