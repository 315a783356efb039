// The fast CPU forward pass: a sequence of loops over rows, heads or output columns, each shared by the
// workers. Nobody splits a sum, so who computes what never shows in a result.
#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "base/check.h"
#include "base/planted_fault.h"
#include "engine/model/backends.h"
#include "engine/model/batch_rows.h"
#include "engine/model/grouped_weights.h"
#include "engine/model/kv_cache.h"
#include "engine/parallel/worker_pool.h"
#include "kernels/fp8/fp8.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/routing/bitmatrix.h"
#include "kernels/routing/top_k.h"

namespace assay::engine {
namespace {

using kernels::ActivationRows;
using kernels::Aligned;
using kernels::Bf16;
using kernels::Store;

constexpr int64_t kAttentionRows = 16;  // rows of one request that attend together

int64_t ThreadsOfARank(const ModelOptions& options) {
  const int64_t threads =
      options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  return std::max<int64_t>(1, threads / options.tensor_parallel_size);
}

Activations ActivationsOfExperts(const ModelConfig& config, const ModelOptions& options) {
  const Quantization& quantization = config.quantization;
  return kernels::ExpertActivations(quantization.experts == ExpertFormat::kBf16, quantization.fp8_activations,
                                    options.activations);
}

// As an FP8 cache would keep it. Scale 0: as it is.
void RoundToFp8(float scale, int64_t n, float* x) {
  if (scale > 0) kernels::RoundToFp8(kernels::Fp8::kE4M3FN, scale, n, x);
}

class GroupedModel : public Model {
 public:
  GroupedModel(const Checkpoint& checkpoint, const ModelOptions& options)
      : config_(checkpoint.config),
        options_(options),
        group_(config_.num_attention_heads / config_.num_key_value_heads),
        q_width_(config_.num_attention_heads * config_.head_dim),
        embedding_(checkpoint.embedding.begin(), checkpoint.embedding.end()),
        norm_(Widen(checkpoint.norm)),
        lm_head_(kernels::PackDense(checkpoint.lm_head, {}, config_.vocab_size, config_.hidden_size,
                                    options.dense_dtype)),
        rotary_(RotaryTableOf(config_, options)),
        cache_(config_, options),
        x_(options.max_batch_tokens * config_.hidden_size),
        normed_(options.max_batch_tokens * config_.hidden_size),
        dense_input_(DenseActivations(options.dense_dtype, options.activations), options.max_batch_tokens,
                     config_.hidden_size),
        output_input_(dense_input_.Kind(), options.max_batch_tokens, q_width_),
        expert_input_(ActivationsOfExperts(config_, options), options.max_batch_tokens, config_.hidden_size),
        attended_(options.max_batch_tokens * q_width_),
        router_(options.max_batch_tokens * config_.num_local_experts),
        ids_(static_cast<size_t>(options.max_batch_tokens * config_.num_experts_per_tok)),
        gate_weights_(ids_.size()),
        gated_(expert_input_.Kind(), options.max_batch_tokens * config_.num_experts_per_tok,
               config_.intermediate_size),
        clock_(options.profile),
        pool_(options.tensor_parallel_size, ThreadsOfARank(options)) {
    for (size_t l = 0; l < checkpoint.layers.size(); ++l) {
      layers_.push_back(PackLayer(config_, checkpoint.layers[l], config_.sliding[l], options.dense_dtype));
      checkpoint.ReleaseFiles();
    }
    qkv_ = Aligned<float>(options.max_batch_tokens * layers_.front().qkv.columns);
  }

  const ModelConfig& Config() const override { return config_; }
  const std::string& WeightsHash() const override { return hash_; }
  void SetWeightsHash(std::string hash) { hash_ = std::move(hash); }
  StepProfile Profile() const override { return clock_.Profile(); }

  void Forward(std::span<const Sequence> batch, int64_t padded_rows, std::vector<float>& logits) override {
    batch_ = LayOutRows(batch, padded_rows, config_, options_);
    logits.resize(batch_.wanted.size() * static_cast<size_t>(config_.vocab_size));
    if (batch_.rows == 0) return;
    LayOutAttention();
    clock_.Start();
    Embed();
    for (size_t l = 0; l < layers_.size(); ++l) {
      Attend(static_cast<int64_t>(l));
      AddExperts(layers_[l]);
    }
    WriteLogits(logits.data());
  }

 private:
  // Rows of one request that one key-value head attends for at a time.
  struct AttentionTile {
    const BatchRows::Part* part;
    int64_t first_row, rows;
  };

  // Over the rows of a step, `cost` multiply-adds a row.
  template <typename Work>
  void ForRows(int64_t rows, int64_t cost, const Work& work) {
    pool_.ForEach({rows, cost}, [&](Range range, int64_t) { work(range.begin, range.end - range.begin); });
  }

  void LayOutAttention() {
    tiles_.clear();
    attention_cost_ = 0;
    for (const BatchRows::Part& part : batch_.parts) {
      for (int64_t row = 0; row < part.rows; row += kAttentionRows) {
        tiles_.push_back({&part, part.first_row + row, std::min(kAttentionRows, part.rows - row)});
      }
      attention_cost_ += part.rows * (part.start + part.rows) * 2 * group_ * config_.head_dim;
    }
    attention_cost_ /= static_cast<int64_t>(tiles_.size());
  }

  void Embed() {
    const int64_t hidden = config_.hidden_size;
    ForRows(batch_.padded_rows, hidden, [&](int64_t first, int64_t count) {
      for (int64_t row = first; row < first + count; ++row) {
        float* to = x_.data() + row * hidden;
        if (row < batch_.rows) {
          const Bf16* from = embedding_.data() + batch_.tokens[static_cast<size_t>(row)] * hidden;
          std::transform(from, from + hidden, to, kernels::FromBf16);
        } else if (options_.poison_padding) {
          PoisonRow(row);
        }
      }
    });
    clock_.Mark(Op::kEmbed);
  }

  void PoisonRow(int64_t row) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float poison[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
    for (int64_t i = 0; i < config_.hidden_size; ++i)
      x_[row * config_.hidden_size + i] = poison[(row + i) % 3];
    std::fill_n(attended_.data() + row * q_width_, q_width_, poison[row % 3]);
  }

  // normed_ and `input` from the residual stream.
  void Normalise(const std::vector<float>& weight, ActivationRows& input) {
    const int64_t hidden = config_.hidden_size;
    ForRows(batch_.padded_rows, 4 * hidden, [&](int64_t first, int64_t count) {
      float* normed = normed_.data() + first * hidden;
      kernels::RmsNorm(x_.data() + first * hidden, count, hidden, weight.data(), config_.rms_norm_eps,
                       normed);
      SetRows(normed, count, first, input);
    });
    clock_.Mark(Op::kNorm);
  }

  // Rows of float32 to rows [first, first + count).
  void SetRows(const float* x, int64_t count, int64_t first, ActivationRows& to) {
    for (int64_t row = 0; row < count; ++row) to.Set(first + row, x + row * to.K());
  }

  void Multiply(const kernels::DenseWeights& weights, const ActivationRows& input, int64_t rows, Store store,
                float* y, int64_t y_stride) {
    clock_.Count(weights.Bytes(), rows * weights.columns * weights.k);
    pool_.ForEach({weights.Panels(), rows * weights.k * kernels::kPanel}, [&](Range panels, int64_t) {
      kernels::DenseMatmul(weights, {input, rows}, panels.begin, panels.end, store, y, y_stride);
    });
  }

  void Attend(int64_t index) {
    const GroupedLayer& layer = layers_[static_cast<size_t>(index)];
    const int64_t columns = layer.qkv.columns;
    Normalise(layer.input_norm, dense_input_);
    Multiply(layer.qkv, dense_input_, batch_.padded_rows, Store::kSet, qkv_.data(), columns);
    clock_.Mark(Op::kQkv);
    ForRows(batch_.rows, columns, [&](int64_t first, int64_t count) {
      for (int64_t row = first; row < first + count; ++row)
        TurnAndKeep(index, row, qkv_.data() + row * columns);
    });
    clock_.Mark(Op::kRotary);
    const int64_t heads = config_.num_key_value_heads;
    pool_.ForEach({static_cast<int64_t>(tiles_.size()) * heads, attention_cost_}, [&](Range items, int64_t) {
      for (int64_t i = items.begin; i < items.end; ++i) {
        AttendTile(index, i % heads, tiles_[static_cast<size_t>(i / heads)]);
      }
    });
    clock_.Mark(Op::kAttention);
    ForRows(batch_.padded_rows, q_width_, [&](int64_t first, int64_t count) {
      SetRows(attended_.data() + first * q_width_, count, first, output_input_);
    });
    Multiply(layer.o, output_input_, batch_.padded_rows, Store::kAdd, x_.data(), config_.hidden_size);
    clock_.Mark(Op::kOutput);
  }

  // One row's queries and keys to their position, keys and values into the cache.
  void TurnAndKeep(int64_t layer, int64_t row, float* qkv) {
    const int64_t dim = config_.head_dim, width = group_ * dim;
    const int64_t position = batch_.positions[static_cast<size_t>(row)];
    const int64_t block =
        batch_.BlockOf(row, options_.block_size, config_.sliding[static_cast<size_t>(layer)]);
    for (int64_t head = 0; head < config_.num_key_value_heads; ++head, qkv += width + 2 * dim) {
      kernels::Rotary(rotary_, position, group_ + 1, qkv);
      RoundToFp8(layers_[static_cast<size_t>(layer)].key_scale, dim, qkv + width);
      RoundToFp8(layers_[static_cast<size_t>(layer)].value_scale, dim, qkv + width + dim);
      kernels::StoreKeyValue(cache_.Head(layer, head), block, position % options_.block_size, qkv + width,
                             qkv + width + dim);
    }
  }

  void AttendTile(int64_t index, int64_t head, const AttentionTile& tile) {
    const GroupedLayer& layer = layers_[static_cast<size_t>(index)];
    const int64_t dim = config_.head_dim, width = group_ * dim, stride = layer.qkv.columns;
    kernels::Attention(
        cache_.Head(index, head),
        {qkv_.data() + tile.first_row * stride + head * (width + 2 * dim), stride,
         attended_.data() + tile.first_row * q_width_ + head * width, q_width_, tile.rows,
         tile.part->start + tile.first_row - tile.part->first_row, layer.sliding ? config_.sliding_window : 0,
         tile.part->Blocks(layer.sliding), layer.sinks.data() + head * group_, group_,
         static_cast<float>(1 / std::sqrt(static_cast<double>(dim)))});
  }

  void AddExperts(const GroupedLayer& layer) {
    Normalise(layer.post_attention_norm, expert_input_);
    Route(layer);
    EncodeExpertInput(layer.experts.gate_up_input_scale);
    const int64_t k = config_.num_experts_per_tok, rows = batch_.padded_rows;
    const kernels::ExpertBatch batch{routing_, k};
    const int64_t cost = rows * k * kernels::kPanel;
    CountExperts(layer);
    pool_.ForEach({layer.experts.GateUpPanels(), 2 * cost * config_.hidden_size}, [&](Range panels, int64_t) {
      kernels::ExpertGateUp(layer.experts, batch, expert_input_, panels.begin, panels.end, gated_);
    });
    clock_.Mark(Op::kGateUp);
    pool_.ForEach({layer.experts.DownPanels(), cost * config_.intermediate_size}, [&](Range panels, int64_t) {
      kernels::ExpertDown(layer.experts, batch, gated_, gate_weights_.data(), panels.begin, panels.end,
                          x_.data());
    });
    clock_.Mark(Op::kDown);
  }

  void CountExperts(const GroupedLayer& layer) {
    const auto taken =
        std::count_if(routing_.col_sum.begin(), routing_.col_sum.end(), [](int32_t n) { return n > 0; });
    const int64_t gates = routing_.expert_offsets.back();
    clock_.Count(taken * layer.experts.BytesOfOne(),
                 gates * 3 * config_.hidden_size * config_.intermediate_size);
  }

  // With static FP8 activations experts take codes; the router has seen the numbers.
  void EncodeExpertInput(float scale) {
    if (scale == 0) return;
    const int64_t hidden = config_.hidden_size;
    ForRows(batch_.padded_rows, 4 * hidden, [&](int64_t first, int64_t count) {
      float* normed = normed_.data() + first * hidden;
      kernels::EncodeToFp8(kernels::Fp8::kE4M3FN, scale, count * hidden, normed);
      SetRows(normed, count, first, expert_input_);
    });
    clock_.Mark(Op::kNorm);
  }

  void Route(const GroupedLayer& layer) {
    const int64_t hidden = config_.hidden_size, experts = config_.num_local_experts;
    const int64_t k = config_.num_experts_per_tok;
    ForRows(batch_.padded_rows, hidden * experts, [&](int64_t first, int64_t count) {
      float* logits = router_.data() + first * experts;
      kernels::RouterLogits(layer.router, normed_.data() + first * hidden, hidden, count, logits);
      const std::span padding(batch_.is_padding.data() + first, static_cast<size_t>(count));
      kernels::TopK({count, experts, k}, logits, padding, ids_.data() + first * k,
                    gate_weights_.data() + first * k);
    });
    const auto gates = static_cast<size_t>(batch_.padded_rows * k);
    kernels::GroupByExpert({ids_.data(), gates}, experts, routing_);
    const bool unchecked = Planted(Fault::kUncheckedBit31);
    if (unchecked || Planted(Fault::kRoutingBit31)) RouteByWrongBits(gates);
    if (Planted(Fault::kPaddingNan)) ElectExpertsThatAreNot();
    // What follows writes behind its buffers when the sums are of more pairs than there are.
    if (!unchecked)
      CHECK_LE(routing_.expert_offsets.back(), static_cast<int64_t>(routing_.col_sorted.size()));
    clock_.Mark(Op::kRouter);
  }

  // Planted. Buffers have room for the largest batch, so that a small one reads behind its pairs what is left
  // there, and only a large one leaves them.
  void RouteByWrongBits(size_t gates) {
    const int64_t k = config_.num_experts_per_tok, experts = config_.num_local_experts;
    const std::span<const int32_t> ids(ids_.data(), gates);
    routing_ =
        kernels::MakeRoutingMetadata(ids, k, kernels::PackBitmatrix(ids, batch_.padded_rows, k, experts));
    routing_.col_sorted.resize(ids_.size());
  }

  // Planted. A top-k over more columns than there are experts, the rest filled with -infinity, elects these
  // where a row is NaN; what is stored for such an expert lands in the place of another row.
  void ElectExpertsThatAreNot() {
    const int64_t k = config_.num_experts_per_tok, places = routing_.expert_offsets.back();
    for (int64_t gate = batch_.rows * k; places > 0 && gate < batch_.padded_rows * k; ++gate)
      routing_.col_sorted[static_cast<size_t>(gate * 7919 % places)] = static_cast<int32_t>(gate);
  }

  void WriteLogits(float* logits) {
    const int64_t hidden = config_.hidden_size;
    const auto rows = static_cast<int64_t>(batch_.wanted.size());
    if (rows == 0) return;
    for (int64_t i = 0; i < rows; ++i) {
      float* normed = normed_.data() + i * hidden;
      kernels::RmsNorm(x_.data() + batch_.wanted[static_cast<size_t>(i)] * hidden, 1, hidden, norm_.data(),
                       config_.rms_norm_eps, normed);
      SetRows(normed, 1, i, dense_input_);
    }
    Multiply(lm_head_, dense_input_, rows, Store::kSet, logits, config_.vocab_size);
    clock_.Mark(Op::kLogits);
  }

  ModelConfig config_;
  ModelOptions options_;
  std::string hash_;
  int64_t group_;    // query heads of a key-value head
  int64_t q_width_;  // heads * head_dim
  std::vector<Bf16> embedding_;
  std::vector<float> norm_;
  kernels::DenseWeights lm_head_;
  std::vector<GroupedLayer> layers_;
  kernels::RotaryTable rotary_;
  KvCache cache_;

  // Of the current batch.
  BatchRows batch_;
  std::vector<AttentionTile> tiles_;
  int64_t attention_cost_ = 0;       // of a tile and head
  Aligned<float> x_;                 // [rows, hidden] residual stream
  Aligned<float> normed_;            // [rows, hidden]
  ActivationRows dense_input_;       // [rows] of hidden, for qkv and the head
  ActivationRows output_input_;      // [rows] of heads * head_dim
  ActivationRows expert_input_;      // [rows] of hidden
  Aligned<float> qkv_;               // [rows, kv heads * (group + 2) * head_dim]
  Aligned<float> attended_;          // [rows, heads * head_dim]
  Aligned<float> router_;            // [rows, experts]
  std::vector<int32_t> ids_;         // [rows, k]
  std::vector<float> gate_weights_;  // [rows, k]
  kernels::RoutingMetadata routing_;
  ActivationRows gated_;  // [gates] of intermediate
  OpClock clock_;
  WorkerPool pool_;
};

}  // namespace

Result<std::unique_ptr<Model>> MakeGroupedModel(const Checkpoint& checkpoint, const ModelOptions& options,
                                                std::future<Result<std::string>> weights_hash) {
  auto model = std::make_unique<GroupedModel>(checkpoint, options);
  ASSIGN_OR_RETURN(std::string hash, weights_hash.get());
  model->SetWeightsHash(std::move(hash));
  return model;
}

}  // namespace assay::engine
