// The fast CPU forward pass. All workers run it together over the same rows; each owns a slice of key-value
// heads, of expert blocks and of output columns, and nobody splits a sum. What every worker needs whole and
// is cheap (norms, routing) each computes for itself, which costs less than waiting for another.
#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "engine/model/backends.h"
#include "engine/model/batch_rows.h"
#include "engine/model/grouped_weights.h"
#include "engine/model/kv_cache.h"
#include "engine/parallel/worker_pool.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/routing/top_k.h"

namespace assay::engine {
namespace {

using kernels::Aligned;
using kernels::Bf16;
using kernels::Store;

// Multiply-adds between two barriers below which one worker alone is as fast: some ten microseconds. Who
// works does not change a result.
constexpr int64_t kWorthSharing = 400'000;

// One worker's own buffers, [rows, ...].
struct Private {
  Aligned<float> normed;       // [rows, hidden]
  Aligned<Bf16> input;         // [rows, terms * hidden]
  Aligned<float> qkv;          // [rows, (group + 2) * head_dim] of one key-value head
  Aligned<float> attended;     // [rows, group * head_dim]
  Aligned<float> router;       // [rows, experts]
  std::vector<int32_t> ids;    // [rows, k]
  std::vector<float> weights;  // [rows, k]
  kernels::RoutingMetadata routing;
  kernels::ExpertScratch scratch;
};

int64_t ThreadsOfARank(const ModelOptions& options) {
  const int64_t threads =
      options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  return std::max<int64_t>(1, threads / options.tensor_parallel_size);
}

class GroupedModel : public Model {
 public:
  GroupedModel(const Checkpoint& checkpoint, const ModelOptions& options, std::string hash)
      : config_(checkpoint.config),
        options_(options),
        hash_(std::move(hash)),
        group_(config_.num_attention_heads / config_.num_key_value_heads),
        terms_(options.activations == Activations::kBf16Pair ? 2 : 1),
        embedding_(checkpoint.embedding.begin(), checkpoint.embedding.end()),
        norm_(Widen(checkpoint.norm)),
        lm_head_(kernels::PackDense(checkpoint.lm_head, {}, config_.vocab_size, config_.hidden_size)),
        rotary_(RotaryTableOf(config_, options)),
        cache_(config_, options.num_blocks, options.block_size),
        x_(options.max_batch_tokens * config_.hidden_size),
        attended_(options.max_batch_tokens * terms_ * config_.num_attention_heads * config_.head_dim),
        gated_(options.max_batch_tokens * config_.num_experts_per_tok * terms_ * config_.intermediate_size),
        pool_(options.tensor_parallel_size, ThreadsOfARank(options)) {
    for (size_t l = 0; l < checkpoint.layers.size(); ++l) {
      layers_.push_back(PackLayer(config_, checkpoint.layers[l], config_.sliding[l]));
    }
    for (int64_t worker = 0; worker < pool_.Size(); ++worker) private_.push_back(MakePrivate());
  }

  const ModelConfig& Config() const override { return config_; }
  const std::string& WeightsHash() const override { return hash_; }

  void Forward(std::span<const Sequence> batch, int64_t padded_rows, std::vector<float>& logits) override {
    batch_ = LayOutRows(batch, padded_rows, config_, options_);
    logits.resize(batch_.wanted.size() * static_cast<size_t>(config_.vocab_size));
    if (batch_.rows == 0) return;
    alone_ = pool_.Size() == 1 || MultiplyAddsOfAStep() < kWorthSharing;
    if (alone_) {
      Step(Worker{}, logits.data());
    } else {
      pool_.Run([&](const Worker& worker) { Step(worker, logits.data()); });
    }
  }

 private:
  Private MakePrivate() const {
    const int64_t rows = options_.max_batch_tokens, dim = config_.head_dim;
    const auto gates = static_cast<size_t>(rows * config_.num_experts_per_tok);
    return {Aligned<float>(rows * config_.hidden_size),
            Aligned<Bf16>(rows * terms_ * config_.hidden_size),
            Aligned<float>(rows * (group_ + 2) * dim),
            Aligned<float>(rows * group_ * dim),
            Aligned<float>(rows * config_.num_local_experts),
            std::vector<int32_t>(gates),
            std::vector<float>(gates),
            {},
            kernels::ExpertScratch(layers_.front().experts)};
  }

  // One worker's share of a forward pass.
  void Step(const Worker& worker, float* logits) {
    Private& own = private_[static_cast<size_t>(worker.Index())];
    Embed(worker);
    Wait();
    for (size_t l = 0; l < layers_.size(); ++l) {
      AttendOwnHeads(worker, static_cast<int64_t>(l), own);
      Wait();
      AddAttention(worker, layers_[l]);
      Wait();
      GateOwnBlocks(worker, layers_[l], own);
      Wait();
      AddExperts(worker, layers_[l], own);
      Wait();
    }
    WriteLogits(worker, own, logits);
  }

  void Wait() {
    if (!alone_) pool_.Barrier().Wait();
  }

  // Between two barriers, on average over a layer.
  int64_t MultiplyAddsOfAStep() const {
    const int64_t attention =
        2 * config_.head_dim * (config_.num_attention_heads + config_.num_key_value_heads);
    const int64_t experts = 3 * config_.num_experts_per_tok * config_.intermediate_size;
    return batch_.padded_rows * config_.hidden_size * (attention + experts) / 4;
  }

  void Embed(const Worker& worker) {
    const int64_t hidden = config_.hidden_size;
    const Range rows = worker.Own(batch_.padded_rows);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      float* to = x_.data() + row * hidden;
      if (row < batch_.rows) {
        const Bf16* from = embedding_.data() + batch_.tokens[static_cast<size_t>(row)] * hidden;
        std::transform(from, from + hidden, to, kernels::FromBf16);
      } else if (options_.poison_padding) {
        PoisonRow(row);
      }
    }
  }

  void PoisonRow(int64_t row) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float poison[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
    for (int64_t i = 0; i < config_.hidden_size; ++i)
      x_[row * config_.hidden_size + i] = poison[(row + i) % 3];
    const int64_t width = terms_ * config_.num_attention_heads * config_.head_dim;
    std::fill_n(attended_.data() + row * width, width, kernels::ToBf16(poison[row % 3]));
  }

  void Normalise(const std::vector<float>& weight, Private& own) {
    kernels::RmsNorm(x_.data(), batch_.padded_rows, config_.hidden_size, weight.data(), config_.rms_norm_eps,
                     own.normed.data());
    SplitRows(own.normed.data(), batch_.padded_rows, own.input.data());
  }

  void SplitRows(const float* x, int64_t rows, Bf16* to) const {
    const int64_t hidden = config_.hidden_size;
    for (int64_t row = 0; row < rows; ++row) {
      kernels::SplitToBf16(x + row * hidden, hidden, terms_, to + row * terms_ * hidden);
    }
  }

  void AttendOwnHeads(const Worker& worker, int64_t layer, Private& own) {
    Normalise(layers_[static_cast<size_t>(layer)].input_norm, own);
    const Range heads = worker.Own(config_.num_key_value_heads);
    for (int64_t head = heads.begin; head < heads.end; ++head) AttendHead(layer, head, own);
  }

  // One key-value head with its queries: project, turn, keep, attend.
  void AttendHead(int64_t layer_index, int64_t head, Private& own) {
    const GroupedLayer& layer = layers_[static_cast<size_t>(layer_index)];
    const kernels::DenseWeights& weights = layer.qkv[static_cast<size_t>(head)];
    const kernels::PagedHead cache = cache_.Head(layer_index, head);
    const int64_t dim = config_.head_dim, stride = weights.columns, width = group_ * dim;
    kernels::DenseMatmul(weights, {own.input.data(), batch_.padded_rows, terms_}, 0, weights.Panels(),
                         Store::kSet, own.qkv.data(), stride);
    for (const BatchRows::Part& part : batch_.parts) {
      for (int64_t row = part.first_row; row < part.first_row + part.rows; ++row) {
        const int64_t position = batch_.positions[static_cast<size_t>(row)];
        float* qkv = own.qkv.data() + row * stride;
        kernels::Rotary(rotary_, position, group_ + 1, qkv);
        kernels::StoreKeyValue(cache, part.block_table[static_cast<size_t>(position / options_.block_size)],
                               position % options_.block_size, qkv + width, qkv + width + dim);
      }
      kernels::Attention(cache, {own.qkv.data() + part.first_row * stride, stride,
                                 own.attended.data() + part.first_row * width, width, part.rows, part.start,
                                 layer.sliding ? config_.sliding_window : 0, part.block_table,
                                 layer.sinks.data() + head * group_, group_,
                                 static_cast<float>(1 / std::sqrt(static_cast<double>(dim)))});
    }
    ShareAttended(head, own);
  }

  // The head's columns of the bf16 rows that all workers read.
  void ShareAttended(int64_t head, const Private& own) {
    const int64_t width = group_ * config_.head_dim, whole = config_.num_attention_heads * config_.head_dim;
    std::vector<Bf16> split(static_cast<size_t>(terms_ * width));
    for (int64_t row = 0; row < batch_.rows; ++row) {
      kernels::SplitToBf16(own.attended.data() + row * width, width, terms_, split.data());
      for (int64_t term = 0; term < terms_; ++term) {
        std::copy_n(split.data() + term * width, width,
                    attended_.data() + (row * terms_ + term) * whole + head * width);
      }
    }
  }

  void AddAttention(const Worker& worker, const GroupedLayer& layer) {
    const Range panels = worker.Own(layer.o.Panels());
    kernels::DenseMatmul(layer.o, {attended_.data(), batch_.padded_rows, terms_}, panels.begin, panels.end,
                         Store::kAdd, x_.data(), config_.hidden_size);
  }

  void GateOwnBlocks(const Worker& worker, const GroupedLayer& layer, Private& own) {
    Normalise(layer.post_attention_norm, own);
    const int64_t rows = batch_.padded_rows, k = config_.num_experts_per_tok;
    const auto gates = static_cast<size_t>(rows * k);
    kernels::RouterLogits(layer.router, own.normed.data(), config_.hidden_size, rows, own.router.data());
    kernels::TopK({rows, config_.num_local_experts, k}, own.router.data(), batch_.is_padding, own.ids.data(),
                  own.weights.data());
    kernels::GroupByExpert({own.ids.data(), gates}, config_.num_local_experts, own.routing);
    const Range panels = worker.Own(layer.experts.GateUpPanels());
    kernels::ExpertGateUp(layer.experts, {own.routing, k, terms_}, own.input.data(), panels.begin, panels.end,
                          own.scratch, gated_.data());
  }

  void AddExperts(const Worker& worker, const GroupedLayer& layer, Private& own) {
    const Range panels = worker.Own(layer.experts.DownPanels());
    kernels::ExpertDown(layer.experts, {own.routing, config_.num_experts_per_tok, terms_}, gated_.data(),
                        own.weights.data(), panels.begin, panels.end, own.scratch, x_.data());
  }

  void WriteLogits(const Worker& worker, Private& own, float* logits) {
    const int64_t hidden = config_.hidden_size;
    for (size_t i = 0; i < batch_.wanted.size(); ++i) {
      float* normed = own.normed.data() + static_cast<int64_t>(i) * hidden;
      kernels::RmsNorm(x_.data() + batch_.wanted[i] * hidden, 1, hidden, norm_.data(), config_.rms_norm_eps,
                       normed);
    }
    const auto rows = static_cast<int64_t>(batch_.wanted.size());
    SplitRows(own.normed.data(), rows, own.input.data());
    const Range panels = worker.Own(lm_head_.Panels());
    kernels::DenseMatmul(lm_head_, {own.input.data(), rows, terms_}, panels.begin, panels.end, Store::kSet,
                         logits, config_.vocab_size);
  }

  ModelConfig config_;
  ModelOptions options_;
  std::string hash_;
  int64_t group_;  // query heads of a key-value head
  int64_t terms_;  // of an activation
  std::vector<Bf16> embedding_;
  std::vector<float> norm_;
  kernels::DenseWeights lm_head_;
  std::vector<GroupedLayer> layers_;
  kernels::RotaryTable rotary_;
  KvCache cache_;

  bool alone_ = true;  // one worker does this batch

  // Of the current batch; every worker reads them, each writes its own columns between two barriers.
  BatchRows batch_;
  Aligned<float> x_;        // [rows, hidden] residual stream
  Aligned<Bf16> attended_;  // [rows, terms * heads * head_dim]
  Aligned<Bf16> gated_;     // [gates, terms * intermediate]
  std::vector<Private> private_;
  WorkerPool pool_;
};

}  // namespace

std::unique_ptr<Model> MakeGroupedModel(const Checkpoint& checkpoint, const ModelOptions& options,
                                        std::string weights_hash) {
  return std::make_unique<GroupedModel>(checkpoint, options, std::move(weights_hash));
}

}  // namespace assay::engine
