#include <algorithm>
#include <bit>
#include <cmath>

#include "base/log.h"
#include "base/planted_fault.h"
#include "engine/cache/cache_groups.h"
#include "engine/model/backends.h"
#include "engine/model/device.h"
#include "engine/model/device_rank.h"
#include "kernels/argmax/argmax_gpu.h"
#include "kernels/embedding/embedding_gpu.h"
#include "kernels/expert_matmul/expert_fused_gpu.h"
#include "kernels/rms_norm/rms_norm_gpu.h"
#include "kernels/rotary/rotary_gpu.h"
#include "kernels/router_logits/router_logits_gpu.h"
#include "kernels/routing/bitmatrix.h"

namespace assay::engine {
namespace {

using kernels::Bf16;
using kernels::gpu::DenseMatmul;

constexpr int64_t kGraphContext = 1024;  // a graph serves contexts up to this or the next power of two
constexpr int64_t kInvariantSplits = 4;  // of a row's keys, where the batch must not show

bool PlantedInTheBits() {
  return Planted(Fault::kRoutingBit31) || Planted(Fault::kUncheckedBit31);
}

int64_t Multiprocessors(int device) {
  kernels::gpu::DeviceInfo info;
  const std::string missing = kernels::gpu::FindDevice(info, device);
  if (!missing.empty()) kernels::gpu::DeviceFailed("loading", missing);
  return info.multiprocessors;
}

DenseMatmul Product(const DeviceLinear& linear, const Bf16* x, int64_t rows, Bf16* y_bf16, float* y_float32,
                    bool add) {
  return {x,
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

}  // namespace

DeviceRank::DeviceRank(const Checkpoint& checkpoint, const ModelOptions& options, const Shard& shard,
                       kernels::gpu::Communicator* communicator)
    : config_(checkpoint.config),
      options_(options),
      shard_(shard),
      communicator_(communicator),
      multiprocessors_(Multiprocessors(communicator == nullptr ? 0 : communicator->DeviceOf(shard.rank))),
      logit_rows_(std::min(options.max_batch_tokens, (options.max_requests + 15) / 16 * 16)),
      heads_(shard.Part(config_.num_attention_heads)),
      kv_heads_(shard.Part(config_.num_key_value_heads)),
      hidden_slice_(shard.Part(config_.hidden_size)),
      scratch_(config_, shard, options.max_batch_tokens, logit_rows_, MostPartials()),
      results_(1 + logit_rows_, "a step's choices"),
      experts_taken_(1, "a counter"),
      step_(config_, options),
      clock_(options.profile) {
  if (communicator != nullptr && !communicator->CanBeRecorded()) options_.graph_replay = false;
  dense_ = options.batch_invariant ? nullptr : kernels::gpu::MakeLibraryBackend();
  if (dense_ == nullptr) dense_ = kernels::gpu::MakeTileBackend();
  if (!options.batch_invariant) dense_ = kernels::gpu::MakeFewRowsBackend(std::move(dense_));
  Upload(checkpoint);
  if (options.moe_backend == MoeBackend::kFused) PrepareFused();
  MakeCache();
  scratch_.Clear(stream_);
  stream_.Fill(experts_taken_.data(), 0, experts_taken_.bytes());
  stream_.Fill(results_.data(), 0, results_.bytes());
  if (options_.poison_padding) {  // NaNs
    for (const auto& cache : cache_) stream_.Fill(cache.data(), 0xFF, cache.bytes());
  }
  Gather(scratch_.x.data(), 1, config_.hidden_size);  // what the first one takes is taken while loading
  stream_.Wait("loading");
}

void DeviceRank::Upload(const Checkpoint& checkpoint) {
  constexpr const char* kWhat = "memory for weights";
  embedding_ = UploadColumns(stream_, checkpoint.embedding, config_.hidden_size, shard_);
  norm_ = kernels::gpu::ToDevice(stream_, Widen(checkpoint.norm), kWhat);
  const LinearTensors head{checkpoint.lm_head, {}};
  lm_head_ = UploadLinear(stream_, {&head}, config_.hidden_size, shard_);
  const kernels::RotaryTable rotary = RotaryTableOf(config_, options_);
  cos_ = kernels::gpu::ToDevice(stream_, rotary.cos, kWhat);
  sin_ = kernels::gpu::ToDevice(stream_, rotary.sin, kWhat);
  for (size_t l = 0; l < checkpoint.layers.size(); ++l) {
    layers_.push_back(UploadLayer(stream_, config_, checkpoint.layers[l], config_.sliding[l], shard_));
    checkpoint.ReleaseFiles();
  }
}

void DeviceRank::PrepareFused() {
  if (communicator_ != nullptr) {
    if (shard_.rank == 0)
      spdlog::warn(
          "--moe-backend fused is for one GPU, as several gather between the products of experts: "
          "computed as by grouped");
    return;
  }
  fused_counters_ = {kernels::gpu::FusedCounters(config_.hidden_size), "counters of experts"};
  stream_.Fill(fused_counters_.data(), 0, fused_counters_.bytes());
  if (layers_.front().gate_up.matrix.bf16 != nullptr)
    spdlog::warn("--moe-backend fused is for MXFP4 experts, and these are bf16: computed as by grouped");
}

void DeviceRank::MakeCache() {
  const int64_t sliding = options_.num_sliding_blocks > 0 ? options_.num_sliding_blocks : options_.num_blocks;
  const int64_t blocks[] = {options_.num_blocks, sliding};
  const int64_t block =
      2 * kv_heads_ * options_.block_size * config_.head_dim * KvElementBytes(config_, Device::kGpu);
  int64_t layers[2] = {};
  for (const bool is_sliding : config_.sliding) {
    layer_memory_.push_back(layers[is_sliding]++ * blocks[is_sliding] * block);
  }
  for (const int group : {0, 1}) cache_[group] = {layers[group] * blocks[group] * block, "the KV cache"};
}

kernels::gpu::PagedCache DeviceRank::Cache(size_t layer) const {
  const DeviceLayer& of = layers_[layer];
  return {cache_[of.sliding].data() + layer_memory_[layer],
          kv_heads_,
          options_.block_size,
          config_.head_dim,
          config_.quantization.fp8_kv_cache,
          of.key_scale,
          of.value_scale};
}

int64_t DeviceRank::MostPartials() const {
  const int64_t splits = options_.batch_invariant ? kInvariantSplits : 1;
  // Few rows have more splits, but not more of all together than this.
  const int64_t spread = kernels::gpu::AttentionSplits(1, kv_heads_, int64_t{1} << 40, multiprocessors_);
  return kernels::gpu::AttentionPartials(std::max(options_.max_batch_tokens * splits, spread), heads_, 1,
                                         config_.head_dim);
}

int64_t DeviceRank::DenseBytes() const {
  int64_t bytes = 0;
  for (const DeviceLayer& layer : layers_) bytes += layer.DenseBytes();
  return bytes;
}

int64_t DeviceRank::ExpertBytesRead() const {
  const int64_t taken = kernels::gpu::ToHost(stream_, experts_taken_)[0];
  return taken * layers_.front().BytesOfOneExpert(config_.num_local_experts);
}

// Whether every request has one token and wants its logits: the batches that graphs are for.
bool DeviceRank::IsDecode(const BatchRows& rows) const {
  return rows.parts.size() == static_cast<size_t>(rows.rows) && rows.wanted.size() == rows.parts.size() &&
         rows.padded_rows <= logit_rows_;
}

void DeviceRank::Compute(const BatchRows& rows) {
  if (options_.poison_padding) {
    scratch_.Poison(stream_);
    step_.Poison(stream_);
  }
  clock_.Start();
  const bool decode = IsDecode(rows);
  step_.Set(stream_, rows, decode);
  const auto wanted = static_cast<int64_t>(rows.wanted.size());
  Shape shape{rows.padded_rows, decode ? rows.padded_rows : wanted, step_.Longest(), {}};
  logits_ = RowsOf(scratch_.logits.data(), shape.wanted);
  // Tiles add in another order than rows alone.
  if (!options_.batch_invariant && kernels::gpu::AttentionHasTiles(config_.head_dim))
    shape.tiles = step_.Tiles();
  if (decode && options_.graph_replay && !PlantedInTheBits()) {
    shape.longest =
        static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(shape.longest, kGraphContext))));
    ComputeByGraph(shape);
  } else {
    Compute(shape);
  }
}

void DeviceRank::ComputeByGraph(const Shape& shape) {
  const std::pair key(shape.rows, shape.longest);
  const auto at = graphs_.find(key);
  if (at != graphs_.end()) return stream_.Replay(at->second);
  Compute(shape);
  // That loaded and chose what is needed the first time, which cannot be recorded.
  stream_.Wait("a step");
  graphs_.emplace(key, stream_.Record([&] { Compute(shape); }));
}

void DeviceRank::Compute(const Shape& shape) {
  kernels::gpu::Embed(stream_.handle(), {embedding_.data(), step_.Tokens(), shape.rows, hidden_slice_,
                                         scratch_.x.data(), options_.poison_padding});
  Mark(Op::kEmbed);
  for (size_t l = 0; l < layers_.size(); ++l) {
    Attend(l, shape);
    AddExperts(layers_[l], shape);
  }
  if (shape.wanted > 0) FindLogits(shape);
}

template <class T>
const T* DeviceRank::Gather(const T* slice, int64_t rows, int64_t whole) {
  if (communicator_ == nullptr) return slice;
  communicator_->AllGather(shard_.rank, stream_, slice, scratch_.gathered.data(),
                           static_cast<size_t>(rows * shard_.Part(whole)) * sizeof(T));
  return reinterpret_cast<const T*>(scratch_.gathered.data());
}

template <class T>
const T* DeviceRank::GatherRows(const T* slice, int64_t rows, int64_t whole) {
  const T* gathered = Gather(slice, rows, whole);
  const T* joined = RowsOf(slice, rows);
  if (gathered != joined) {
    kernels::gpu::JoinSlices(stream_.handle(), gathered, shard_.ranks, rows,
                             shard_.Part(whole) * static_cast<int64_t>(sizeof(T)), scratch_.joined.data());
  }
  return joined;
}

template <class T>
const T* DeviceRank::RowsOf(const T* slice, int64_t rows) const {
  if (communicator_ == nullptr) return slice;
  return reinterpret_cast<const T*>((rows == 1 ? scratch_.gathered : scratch_.joined).data());
}

void DeviceRank::Attend(size_t index, const Shape& shape) {
  const DeviceLayer& layer = layers_[index];
  void* stream = stream_.handle();
  const float* x = Gather(scratch_.x.data(), shape.rows, config_.hidden_size);
  kernels::gpu::RmsNorm(
      stream, {x, shape.rows, hidden_slice_, nullptr, shape.rows, config_.hidden_size,
               layer.input_norm.data(), config_.rms_norm_eps, scratch_.input.data(), nullptr, 0, nullptr});
  Mark(Op::kNorm);
  dense_->Multiply(
      stream, Product(layer.qkv, scratch_.input.data(), shape.rows, scratch_.qkv.data(), nullptr, false));
  Mark(Op::kQkv);
  const auto tables = step_.Tables(layer.sliding);
  kernels::gpu::RotateAndStore(stream, {scratch_.qkv.data(), shape.rows, heads_, cos_.data(), sin_.data(),
                                        step_.Positions(), Cache(index), tables});
  Mark(Op::kRotary);
  const int64_t window = layer.sliding ? config_.sliding_window : 0;
  const int64_t longest = window > 0 ? std::min(window, shape.longest) : shape.longest;
  const int64_t splits = options_.batch_invariant ? kInvariantSplits
                                                  : kernels::gpu::AttentionSplits(shape.rows, kv_heads_,
                                                                                  longest, multiprocessors_);
  const kernels::gpu::AttentionBatch attention{
      scratch_.qkv.data(),
      layer.qkv.columns,
      scratch_.attended.data(),
      shape.rows,
      heads_,
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
  const Bf16* attended =
      GatherRows(scratch_.attended.data(), shape.rows, config_.num_attention_heads * config_.head_dim);
  dense_->Multiply(stream, Product(layer.o, attended, shape.rows, nullptr, scratch_.x.data(), true));
  Mark(Op::kOutput);
}

void DeviceRank::AddExperts(const DeviceLayer& layer, const Shape& shape) {
  void* stream = stream_.handle();
  const bool fp8 = layer.fp8_activations;
  Bf16* input = scratch_.input.data();
  const float* x = Gather(scratch_.x.data(), shape.rows, config_.hidden_size);
  kernels::gpu::RmsNorm(stream,
                        {x, shape.rows, hidden_slice_, nullptr, shape.rows, config_.hidden_size,
                         layer.post_attention_norm.data(), config_.rms_norm_eps, fp8 ? nullptr : input,
                         fp8 ? input : nullptr, layer.gate_up.matrix.input_scale, scratch_.normed.data()});
  Mark(Op::kNorm);
  const kernels::gpu::ExpertBatch batch = Route(layer, shape);
  const kernels::gpu::ExpertLayer experts{layer.gate_up.matrix, layer.down.matrix,
                                          static_cast<float>(config_.swiglu_limit)};
  if (fused_counters_.size() > 0 && kernels::gpu::ExpertsFuse(experts, batch)) {
    kernels::gpu::ExpertsFused(stream, experts, batch, input, fp8, scratch_.gated.data(),
                               scratch_.expert_out.data(), scratch_.x.data(), fused_counters_.data());
    return Mark(Op::kGateUp);  // and down
  }
  kernels::gpu::ExpertGateUp(stream, experts, batch, input, scratch_.gated.data(), fp8);
  Mark(Op::kGateUp);
  const Bf16* gated =
      GatherRows(scratch_.gated.data(), shape.rows * config_.num_experts_per_tok, config_.intermediate_size);
  kernels::gpu::ExpertDown(stream, experts, batch, gated, scratch_.expert_out.data());
  kernels::gpu::ExpertCombine(stream, batch, scratch_.expert_out.data(), hidden_slice_, scratch_.x.data());
  Mark(Op::kDown);
}

kernels::gpu::ExpertBatch DeviceRank::Route(const DeviceLayer& layer, const Shape& shape) {
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
  if (PlantedInTheBits()) {
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
void DeviceRank::RouteByWrongBits(const kernels::gpu::Routing& in) {
  kernels::gpu::TopK(stream_.handle(), in);
  const std::vector<int32_t> ids = kernels::gpu::ToHost(stream_, in.ids, in.tokens * in.k);
  const kernels::Bitmatrix wrong = kernels::PackBitmatrix(ids, in.tokens, in.k, in.experts);
  stream_.CopyToDevice(in.bits, wrong.bits.data(), wrong.bits.size() * sizeof(uint32_t));
  stream_.Wait("planted bits");
  kernels::gpu::GroupGates(stream_.handle(), in);
}

void DeviceRank::FindLogits(const Shape& shape) {
  void* stream = stream_.handle();
  const float* x = Gather(scratch_.x.data(), shape.rows, config_.hidden_size);
  kernels::gpu::RmsNorm(
      stream, {x, shape.rows, hidden_slice_, step_.Wanted(), shape.wanted, config_.hidden_size, norm_.data(),
               config_.rms_norm_eps, scratch_.input.data(), nullptr, 0, nullptr});
  dense_->Multiply(
      stream, Product(lm_head_, scratch_.input.data(), shape.wanted, nullptr, scratch_.logits.data(), false));
  const float* logits = GatherRows(scratch_.logits.data(), shape.wanted, config_.vocab_size);
  if (shard_.rank == 0) {
    kernels::gpu::Argmax(stream, logits, shape.wanted, config_.vocab_size, scratch_.keys.data(),
                         results_.data() + 1);
  }
  Mark(Op::kLogits);
}

// Where the time went is only known when each operation is waited for.
void DeviceRank::Mark(Op op) {
  if (!options_.profile || options_.graph_replay) return;
  stream_.Wait(OpName(op));
  clock_.Mark(op);
}

}  // namespace assay::engine
