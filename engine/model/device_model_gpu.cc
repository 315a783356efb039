// The forward pass on a GPU: kernels in one stream, weights and KV cache in device memory. A batch of
// requests that decode can be a graph, recorded once for each padded size and replayed.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "base/check.h"
#include "base/log.h"
#include "base/planted_fault.h"
#include "engine/cache/cache_groups.h"
#include "engine/model/backends.h"
#include "engine/model/device.h"
#include "engine/model/device_sampler.h"
#include "engine/model/device_step.h"
#include "engine/model/device_weights.h"
#include "kernels/argmax/argmax_gpu.h"
#include "kernels/dense_matmul/dense_matmul_gpu.h"
#include "kernels/embedding/embedding_gpu.h"
#include "kernels/rms_norm/rms_norm_gpu.h"
#include "kernels/rotary/rotary_gpu.h"
#include "kernels/router_logits/router_logits_gpu.h"
#include "kernels/routing/bitmatrix.h"
#include "kernels/routing/metadata.h"
#include "kernels/routing/routing_gpu.h"

namespace assay::engine {
namespace {

using kernels::Bf16;
using kernels::gpu::DenseBackend;
using kernels::gpu::DenseMatmul;
using kernels::gpu::Graph;
using kernels::gpu::PinnedBuffer;
using kernels::gpu::Stream;

constexpr int64_t kGraphContext = 1024;  // a graph serves contexts up to this or the next power of two
constexpr int64_t kInvariantSplits = 4;  // of a row's keys, where the batch must not show

// Activations of a step.
struct Scratch {
  DeviceBuffer<float> x;        // [rows, hidden] residual stream
  DeviceBuffer<float> normed;   // [rows, hidden]
  DeviceBuffer<Bf16> input;     // [rows, hidden] of a dense product or of experts
  DeviceBuffer<Bf16> qkv;       // [rows, (heads + 2 kv heads) * head_dim]
  DeviceBuffer<Bf16> attended;  // [rows, heads * head_dim]
  DeviceBuffer<float> partial;
  DeviceBuffer<float> router;        // [rows, experts]
  DeviceBuffer<float> gate_weights;  // [rows, k]
  DeviceBuffer<int32_t> ids, col_sum, offsets, col_sorted, row_sorted, schedule;
  DeviceBuffer<uint32_t> bits;
  DeviceBuffer<uint64_t> keys;     // [logit rows, parts]
  DeviceBuffer<Bf16> gated;        // [gates, intermediate]
  DeviceBuffer<float> expert_out;  // [gates, hidden]
  DeviceBuffer<float> logits;      // [logit rows, vocabulary]

  Scratch(const ModelConfig& c, int64_t rows, int64_t logit_rows, int64_t partials) {
    constexpr const char* kWhat = "memory for activations";
    const int64_t gates = rows * c.num_experts_per_tok, experts = c.num_local_experts;
    const int64_t heads = c.num_attention_heads * c.head_dim;
    x = {rows * c.hidden_size, kWhat};
    normed = {rows * c.hidden_size, kWhat};
    input = {rows * c.hidden_size, kWhat};
    qkv = {rows * (heads + 2 * c.num_key_value_heads * c.head_dim), kWhat};
    attended = {rows * heads, kWhat};
    partial = {partials, kWhat};
    router = {rows * experts, kWhat};
    gate_weights = {gates, kWhat};
    ids = {gates, kWhat};
    bits = {rows * ((experts + 31) / 32), kWhat};
    col_sum = {experts, kWhat};
    offsets = {experts + 1, kWhat};
    col_sorted = {gates, kWhat};
    row_sorted = {gates, kWhat};
    schedule = {kernels::MaxTiles(gates, experts, 1), kWhat};
    gated = {gates * c.intermediate_size, kWhat};
    expert_out = {gates * c.hidden_size, kWhat};
    logits = {logit_rows * c.vocab_size, kWhat};
    keys = {logit_rows * kernels::gpu::kArgmaxParts, kWhat};
  }
  // Numbers become NaNs, indices large integers: what is read before it is written shows.
  void Poison(const Stream& stream) const { Fill(stream, 0xFF, 0x7F); }
  void Clear(const Stream& stream) const { Fill(stream, 0, 0); }

 private:
  void Fill(const Stream& stream, int numbers, int indices) const {
    for (const auto* buffer : {&x, &normed, &partial, &router, &gate_weights, &expert_out, &logits})
      stream.Fill(buffer->data(), numbers, buffer->bytes());
    for (const auto* buffer : {&input, &qkv, &attended, &gated})
      stream.Fill(buffer->data(), numbers, buffer->bytes());
    for (const auto* buffer : {&ids, &col_sum, &offsets, &col_sorted, &row_sorted, &schedule})
      stream.Fill(buffer->data(), indices, buffer->bytes());
    stream.Fill(bits.data(), indices, bits.bytes());
    stream.Fill(keys.data(), indices, keys.bytes());
  }
};

class DeviceModel final : public Model {
 public:
  DeviceModel(const Checkpoint& checkpoint, const ModelOptions& options,
              const kernels::gpu::DeviceInfo& device)
      : config_(checkpoint.config),
        options_(options),
        multiprocessors_(device.multiprocessors),
        logit_rows_(std::min(options.max_batch_tokens, (options.max_requests + 15) / 16 * 16)),
        scratch_(config_, options.max_batch_tokens, logit_rows_, MostPartials()),
        host_logits_(logit_rows_ * config_.vocab_size, "pinned memory for logits"),
        results_(1 + logit_rows_, "a step's choices"),
        host_results_(1 + logit_rows_, "pinned memory for choices"),
        experts_taken_(1, "a counter"),
        step_(config_, options),
        sampler_(logit_rows_, config_.vocab_size) {
    dense_ = options.batch_invariant ? nullptr : kernels::gpu::MakeLibraryBackend();
    if (dense_ == nullptr) dense_ = kernels::gpu::MakeTileBackend();
    if (!options.batch_invariant) dense_ = kernels::gpu::MakeFewRowsBackend(std::move(dense_));
    Upload(checkpoint);
    MakeCache();
    scratch_.Clear(stream_);
    stream_.Fill(experts_taken_.data(), 0, experts_taken_.bytes());
    stream_.Fill(results_.data(), 0, results_.bytes());
    if (options_.poison_padding) {  // NaNs
      for (const auto& cache : cache_) stream_.Fill(cache.data(), 0xFF, cache.bytes());
    }
    stream_.Wait("loading");
  }

  const ModelConfig& Config() const override { return config_; }
  const std::string& WeightsHash() const override { return hash_; }
  void SetWeightsHash(std::string hash) { hash_ = std::move(hash); }

  StepProfile Profile() const override {
    StepProfile profile = clock_.Profile();
    const int64_t experts = kernels::gpu::ToHost(stream_, experts_taken_)[0];
    profile.weight_bytes += experts * expert_bytes_;
    return profile;
  }

  void Forward(std::span<const Sequence> batch, int64_t padded_rows, std::vector<float>& logits) override {
    const BatchRows rows = LayOutRows(batch, padded_rows, config_, options_);
    const auto wanted = static_cast<int64_t>(rows.wanted.size());
    logits.resize(static_cast<size_t>(wanted * config_.vocab_size));
    if (rows.rows == 0) return;
    kernels::gpu::DescribeWork([batch] { return RequestsOf(batch); });
    if (options_.poison_padding) {
      scratch_.Poison(stream_);
      step_.Poison(stream_);
    }
    clock_.Start();
    const bool decode = IsDecode(rows);
    step_.Set(stream_, rows, decode);
    Shape shape{padded_rows, decode ? padded_rows : wanted, step_.Longest(), {}};
    // Tiles add in another order than rows alone.
    if (!options_.batch_invariant && kernels::gpu::AttentionHasTiles(config_.head_dim))
      shape.tiles = step_.Tiles();
    if (decode && options_.graph_replay && !Planted(Fault::kRoutingBit31)) {
      shape.longest =
          static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(shape.longest, kGraphContext))));
      ComputeByGraph(shape);
    } else {
      Compute(shape);
    }
    sampler_.Draw(stream_, batch, scratch_.logits.data(), results_.data() + 1);
    ReadResults(batch, logits);
    Count(rows);
    kernels::gpu::DescribeWork({});
  }

  std::span<const int32_t> Picked() const override { return picked_; }

 private:
  // What the launches of a step depend on, beside what lies in device memory.
  struct Shape {
    int64_t rows, wanted, longest;
    std::span<const kernels::gpu::RowTile> tiles;  // in device memory; empty: attention row by row
  };

  // Logits of those that need them, and the tokens of those that have a pick. Waits for the step.
  void ReadResults(std::span<const Sequence> batch, std::vector<float>& logits) {
    const auto vocabulary = static_cast<size_t>(config_.vocab_size);
    picked_.clear();
    for (const Sequence& sequence : batch) {
      if (!sequence.want_logits) continue;
      const size_t at = picked_.size() * vocabulary;
      picked_.push_back(sequence.pick ? kNothing : kNotPicked);
      if (sequence.pick) continue;
      stream_.CopyToHost(host_logits_.data() + at, scratch_.logits.data() + at, vocabulary * sizeof(float));
    }
    stream_.CopyToHost(host_results_.data(), results_.data(), (1 + picked_.size()) * sizeof(int32_t));
    stream_.Wait("a step");
    const int32_t routing_counts_gates_that_are_not = host_results_.data()[0];
    CHECK_EQ(routing_counts_gates_that_are_not, 0);
    for (size_t i = 0; i < picked_.size(); ++i) {
      if (picked_[i] == kNotPicked) {
        std::copy_n(host_logits_.data() + i * vocabulary, vocabulary, logits.data() + i * vocabulary);
      } else {
        picked_[i] = host_results_.data()[1 + i];
      }
    }
  }

  static std::string RequestsOf(std::span<const Sequence> batch) {
    std::string text = batch.size() == 1 ? "request" : "requests";
    for (const Sequence& sequence : batch)
      text += (&sequence == batch.data() ? " " : ", ") + std::to_string(sequence.request);
    return text;
  }

  int64_t MostPartials() const {
    const int64_t splits = options_.batch_invariant ? kInvariantSplits : 1;
    // Few rows have more splits, but not more of all together than this.
    const int64_t spread =
        kernels::gpu::AttentionSplits(1, config_.num_key_value_heads, int64_t{1} << 40, multiprocessors_);
    return kernels::gpu::AttentionPartials(std::max(options_.max_batch_tokens * splits, spread),
                                           config_.num_attention_heads, 1, config_.head_dim);
  }

  void Upload(const Checkpoint& checkpoint) {
    constexpr const char* kWhat = "memory for weights";
    embedding_ = kernels::gpu::ToDevice(stream_, checkpoint.embedding, kWhat);
    norm_ = kernels::gpu::ToDevice(stream_, Widen(checkpoint.norm), kWhat);
    lm_head_.weight = kernels::gpu::ToDevice(stream_, checkpoint.lm_head, kWhat);
    lm_head_.columns = config_.vocab_size;
    lm_head_.k = config_.hidden_size;
    const kernels::RotaryTable rotary = RotaryTableOf(config_, options_);
    cos_ = kernels::gpu::ToDevice(stream_, rotary.cos, kWhat);
    sin_ = kernels::gpu::ToDevice(stream_, rotary.sin, kWhat);
    for (size_t l = 0; l < checkpoint.layers.size(); ++l) {
      layers_.push_back(UploadLayer(stream_, config_, checkpoint.layers[l], config_.sliding[l]));
      checkpoint.ReleaseFiles();
      dense_bytes_ += layers_.back().DenseBytes();
    }
    expert_bytes_ = layers_.front().BytesOfOneExpert(config_.num_local_experts);
  }

  void MakeCache() {
    const int64_t sliding =
        options_.num_sliding_blocks > 0 ? options_.num_sliding_blocks : options_.num_blocks;
    const int64_t blocks[] = {options_.num_blocks, sliding};
    const int64_t block = 2 * config_.num_key_value_heads * options_.block_size * config_.head_dim *
                          KvElementBytes(config_, Device::kGpu);
    int64_t layers[2] = {};
    for (const bool is_sliding : config_.sliding) {
      layer_memory_.push_back(layers[is_sliding]++ * blocks[is_sliding] * block);
    }
    for (const int group : {0, 1}) cache_[group] = {layers[group] * blocks[group] * block, "the KV cache"};
  }

  kernels::gpu::PagedCache Cache(size_t layer) const {
    const DeviceLayer& of = layers_[layer];
    return {cache_[of.sliding].data() + layer_memory_[layer],
            config_.num_key_value_heads,
            options_.block_size,
            config_.head_dim,
            config_.quantization.fp8_kv_cache,
            of.key_scale,
            of.value_scale};
  }

  // Whether every request has one token and wants its logits: the batches that graphs are for.
  bool IsDecode(const BatchRows& rows) const {
    return rows.parts.size() == static_cast<size_t>(rows.rows) && rows.wanted.size() == rows.parts.size() &&
           rows.padded_rows <= logit_rows_;
  }

  void ComputeByGraph(const Shape& shape) {
    const std::pair key(shape.rows, shape.longest);
    const auto at = graphs_.find(key);
    if (at != graphs_.end()) return stream_.Replay(at->second);
    Compute(shape);
    // That loaded and chose what is needed the first time, which cannot be recorded.
    stream_.Wait("a step");
    graphs_.emplace(key, stream_.Record([&] { Compute(shape); }));
  }

  void Compute(const Shape& shape) {
    void* stream = stream_.handle();
    kernels::gpu::Embed(stream, {embedding_.data(), step_.Tokens(), shape.rows, config_.hidden_size,
                                 scratch_.x.data(), options_.poison_padding});
    Mark(Op::kEmbed);
    for (size_t l = 0; l < layers_.size(); ++l) {
      Attend(l, shape);
      AddExperts(layers_[l], shape);
    }
    if (shape.wanted == 0) return;
    kernels::gpu::RmsNorm(stream,
                          {scratch_.x.data(), step_.Wanted(), shape.wanted, config_.hidden_size, norm_.data(),
                           config_.rms_norm_eps, scratch_.input.data(), nullptr, 0, nullptr});
    dense_->Multiply(stream,
                     Product(lm_head_, scratch_.input, shape.wanted, nullptr, scratch_.logits.data(), false));
    kernels::gpu::Argmax(stream, scratch_.logits.data(), shape.wanted, config_.vocab_size,
                         scratch_.keys.data(), results_.data() + 1);
    Mark(Op::kLogits);
  }

  static DenseMatmul Product(const DeviceLinear& linear, const DeviceBuffer<Bf16>& x, int64_t rows,
                             Bf16* y_bf16, float* y_float32, bool add) {
    return {x.data(),
            rows,
            linear.k,
            linear.weight.data(),
            linear.columns,
            linear.bias.data(),
            linear.bias_bf16.data(),
            y_bf16,
            y_float32,
            add};
  }

  void Attend(size_t index, const Shape& shape) {
    const DeviceLayer& layer = layers_[index];
    void* stream = stream_.handle();
    const int64_t heads = config_.num_attention_heads;
    kernels::gpu::RmsNorm(
        stream, {scratch_.x.data(), nullptr, shape.rows, config_.hidden_size, layer.input_norm.data(),
                 config_.rms_norm_eps, scratch_.input.data(), nullptr, 0, nullptr});
    Mark(Op::kNorm);
    dense_->Multiply(stream,
                     Product(layer.qkv, scratch_.input, shape.rows, scratch_.qkv.data(), nullptr, false));
    Mark(Op::kQkv);
    const auto tables = step_.Tables(layer.sliding);
    kernels::gpu::RotateAndStore(stream, {scratch_.qkv.data(), shape.rows, heads, cos_.data(), sin_.data(),
                                          step_.Positions(), Cache(index), tables});
    Mark(Op::kRotary);
    const int64_t window = layer.sliding ? config_.sliding_window : 0;
    const int64_t longest = window > 0 ? std::min(window, shape.longest) : shape.longest;
    const int64_t splits = options_.batch_invariant
                               ? kInvariantSplits
                               : kernels::gpu::AttentionSplits(shape.rows, config_.num_key_value_heads,
                                                               longest, multiprocessors_);
    const kernels::gpu::AttentionBatch attention{
        scratch_.qkv.data(),
        layer.qkv.columns,
        scratch_.attended.data(),
        shape.rows,
        heads,
        step_.Positions(),
        Cache(index),
        tables,
        layer.sinks.data(),
        window,
        static_cast<float>(1 / std::sqrt(static_cast<double>(config_.head_dim))),
        scratch_.partial.data(),
        splits};
    if (shape.tiles.empty()) {
      kernels::gpu::Attention(stream, attention);
    } else {
      kernels::gpu::AttentionOfTiles(stream, attention, shape.tiles.data(),
                                     static_cast<int64_t>(shape.tiles.size()));
    }
    Mark(Op::kAttention);
    dense_->Multiply(stream,
                     Product(layer.o, scratch_.attended, shape.rows, nullptr, scratch_.x.data(), true));
    Mark(Op::kOutput);
  }

  void AddExperts(const DeviceLayer& layer, const Shape& shape) {
    void* stream = stream_.handle();
    const bool fp8 = layer.fp8_activations;
    Bf16* input = scratch_.input.data();
    kernels::gpu::RmsNorm(stream,
                          {scratch_.x.data(), nullptr, shape.rows, config_.hidden_size,
                           layer.post_attention_norm.data(), config_.rms_norm_eps, fp8 ? nullptr : input,
                           fp8 ? input : nullptr, layer.gate_up.matrix.input_scale, scratch_.normed.data()});
    Mark(Op::kNorm);
    const kernels::gpu::ExpertBatch batch = Route(layer, shape);
    const kernels::gpu::ExpertLayer experts{layer.gate_up.matrix, layer.down.matrix,
                                            static_cast<float>(config_.swiglu_limit)};
    kernels::gpu::ExpertGateUp(stream, experts, batch, input, scratch_.gated.data(), fp8);
    Mark(Op::kGateUp);
    kernels::gpu::ExpertDown(stream, experts, batch, scratch_.gated.data(), scratch_.expert_out.data());
    kernels::gpu::ExpertCombine(stream, batch, scratch_.expert_out.data(), config_.hidden_size,
                                scratch_.x.data());
    Mark(Op::kDown);
  }

  kernels::gpu::ExpertBatch Route(const DeviceLayer& layer, const Shape& shape) {
    void* stream = stream_.handle();
    const int64_t experts = config_.num_local_experts, k = config_.num_experts_per_tok;
    const int64_t block = kernels::gpu::ExpertBlock(shape.rows, k, experts);
    kernels::gpu::RouterLogits(stream,
                               {scratch_.normed.data(), shape.rows, config_.hidden_size, layer.router.data(),
                                layer.router_bias.data(), experts, scratch_.router.data()});
    const kernels::gpu::Routing routing{shape.rows,
                                        experts,
                                        k,
                                        scratch_.router.data(),
                                        step_.Positions(),
                                        block,
                                        scratch_.ids.data(),
                                        scratch_.gate_weights.data(),
                                        scratch_.bits.data(),
                                        scratch_.col_sum.data(),
                                        scratch_.offsets.data(),
                                        scratch_.col_sorted.data(),
                                        scratch_.row_sorted.data(),
                                        scratch_.schedule.data(),
                                        experts_taken_.data(),
                                        results_.data()};
    if (Planted(Fault::kRoutingBit31)) {
      RouteByWrongBits(routing);
    } else {
      kernels::gpu::Route(stream, routing);
    }
    Mark(Op::kRouter);
    return {shape.rows,
            k,
            experts,
            block,
            scratch_.offsets.data(),
            scratch_.col_sorted.data(),
            scratch_.row_sorted.data(),
            scratch_.schedule.data(),
            scratch_.gate_weights.data(),
            !options_.batch_invariant && kernels::gpu::FewRowsAreFaster(shape.rows, k, experts)};
  }

  // Planted. The host packs the bits, and the device counts and places by them.
  void RouteByWrongBits(const kernels::gpu::Routing& in) {
    kernels::gpu::TopK(stream_.handle(), in);
    const std::vector<int32_t> ids = kernels::gpu::ToHost(stream_, in.ids, in.tokens * in.k);
    const kernels::Bitmatrix wrong = kernels::PackBitmatrix(ids, in.tokens, in.k, in.experts);
    stream_.CopyToDevice(in.bits, wrong.bits.data(), wrong.bits.size() * sizeof(uint32_t));
    stream_.Wait("planted bits");
    kernels::gpu::GroupGates(stream_.handle(), in);
  }

  // Where the time went is only known when each operation is waited for.
  void Mark(Op op) {
    if (!options_.profile || options_.graph_replay) return;
    stream_.Wait(OpName(op));
    clock_.Mark(op);
  }

  void Count(const BatchRows& rows) {
    const auto wanted = static_cast<int64_t>(rows.wanted.size());
    const int64_t head = wanted > 0 ? static_cast<int64_t>(lm_head_.weight.bytes()) : 0;
    int64_t a_row = 0;
    for (const DeviceLayer& layer : layers_) {
      a_row += layer.qkv.columns * layer.qkv.k + layer.o.columns * layer.o.k;
      a_row += 3 * config_.num_experts_per_tok * config_.hidden_size * config_.intermediate_size;
    }
    clock_.Count(dense_bytes_ + head, rows.rows * a_row + wanted * lm_head_.columns * lm_head_.k);
  }

  ModelConfig config_;
  ModelOptions options_;
  std::string hash_;
  int64_t multiprocessors_, logit_rows_;
  Stream stream_;
  std::unique_ptr<DenseBackend> dense_;

  DeviceBuffer<Bf16> embedding_;
  DeviceBuffer<float> norm_, cos_, sin_;
  DeviceLinear lm_head_;
  std::vector<DeviceLayer> layers_;
  DeviceBuffer<uint8_t> cache_[2];     // full, sliding: [layer of the group][block]
  std::vector<int64_t> layer_memory_;  // [layers] where a layer's begins, in bytes
  int64_t dense_bytes_ = 0, expert_bytes_ = 0;

  Scratch scratch_;
  PinnedBuffer<float> host_logits_;
  DeviceBuffer<int32_t> results_;  // whether routing counted too much, then [logit rows] ids
  PinnedBuffer<int32_t> host_results_;
  std::vector<int32_t> picked_;
  DeviceBuffer<int64_t> experts_taken_;  // by all layers of all steps
  DeviceStep step_;
  DeviceSampler sampler_;
  std::map<std::pair<int64_t, int64_t>, Graph> graphs_;  // by padded rows and longest context
  OpClock clock_{options_.profile};
};

}  // namespace

Result<std::unique_ptr<Model>> MakeDeviceModel(const Checkpoint& checkpoint, const ModelOptions& options,
                                               std::future<Result<std::string>> weights_hash) {
  kernels::gpu::DeviceInfo device;
  const std::string missing = kernels::gpu::FindDevice(device);
  if (!missing.empty()) return Fail(ErrorKind::kInfrastructure, "no GPU: {}", missing);
  spdlog::info("computing on {} ({}, {:.1f} GB free)", device.name, device.architecture,
               static_cast<double>(device.free_bytes) / 1e9);
  auto model = std::make_unique<DeviceModel>(checkpoint, options, device);
  ASSIGN_OR_RETURN(std::string hash, weights_hash.get());
  model->SetWeightsHash(std::move(hash));
  return model;
}

}  // namespace assay::engine
