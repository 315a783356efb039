// The whole forward pass from the definitions in kernels/*_reference.cc: float32 values, sums in double, one
// thread, real rows only. Slow; it is what the other backend is compared with.
#include <algorithm>
#include <cmath>

#include "engine/model/backends.h"
#include "engine/model/batch_rows.h"
#include "engine/model/kv_cache.h"
#include "kernels/dense_matmul/dense_matmul.h"
#include "kernels/expert_matmul/expert_matmul.h"
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

struct Layer {
  bool sliding;
  Floats input_norm, post_attention_norm, sinks, gate_up_bias, down_bias;
  Linear q, k, v, o, router;
  std::vector<uint8_t> gate_up_blocks, gate_up_scales, down_blocks, down_scales;

  Layer(const LayerTensors& from, bool is_sliding)
      : sliding(is_sliding),
        input_norm(Widen(from.input_norm)),
        post_attention_norm(Widen(from.post_attention_norm)),
        sinks(Widen(from.sinks)),
        gate_up_bias(Widen(from.gate_up_bias)),
        down_bias(Widen(from.down_bias)),
        q(from.q),
        k(from.k),
        v(from.v),
        o(from.o),
        router(from.router),
        gate_up_blocks(from.gate_up_blocks.begin(), from.gate_up_blocks.end()),
        gate_up_scales(from.gate_up_scales.begin(), from.gate_up_scales.end()),
        down_blocks(from.down_blocks.begin(), from.down_blocks.end()),
        down_scales(from.down_scales.begin(), from.down_scales.end()) {}

  kernels::ExpertTensors Experts(const ModelConfig& c) const {
    return {c.num_local_experts,
            c.hidden_size,
            c.intermediate_size,
            gate_up_blocks.data(),
            gate_up_scales.data(),
            gate_up_bias,
            down_blocks.data(),
            down_scales.data(),
            down_bias,
            static_cast<float>(c.swiglu_limit)};
  }
};

void Add(const Floats& from, Floats& to) {
  std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>());
}

class ReferenceModel : public Model {
 public:
  ReferenceModel(const Checkpoint& checkpoint, const ModelOptions& options, std::string hash)
      : config_(checkpoint.config),
        options_(options),
        hash_(std::move(hash)),
        embedding_(Widen(checkpoint.embedding)),
        norm_(Widen(checkpoint.norm)),
        lm_head_(Widen(checkpoint.lm_head)),
        rotary_(RotaryTableOf(config_, options)),
        cache_(config_, options) {
    for (size_t l = 0; l < checkpoint.layers.size(); ++l) {
      layers_.emplace_back(checkpoint.layers[l], config_.sliding[l]);
    }
  }

  const ModelConfig& Config() const override { return config_; }
  const std::string& WeightsHash() const override { return hash_; }

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
    const Floats v = layer.v(t);
    Floats out(q.size());
    const int64_t dim = config_.head_dim, kv_heads = config_.num_key_value_heads;
    const int64_t stride = config_.num_attention_heads * dim, group = config_.num_attention_heads / kv_heads;
    for (const BatchRows::Part& part : rows.parts) {
      for (int64_t row = part.first_row; row < part.first_row + part.rows; ++row) {
        const int64_t position = rows.positions[static_cast<size_t>(row)];
        kernels::RotaryReference(rotary_, position, config_.num_attention_heads, q.data() + row * stride);
        kernels::RotaryReference(rotary_, position, kv_heads, k.data() + row * kv_heads * dim);
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
    kernels::ExpertMatmulReference(layer.Experts(config_), t.data(), tokens, k, ids.data(), weights.data(),
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

std::unique_ptr<Model> MakeReferenceModel(const Checkpoint& checkpoint, const ModelOptions& options,
                                          std::string weights_hash) {
  return std::make_unique<ReferenceModel>(checkpoint, options, std::move(weights_hash));
}

}  // namespace assay::engine
