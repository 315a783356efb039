// The forward pass on one GPU or several: what ranks do together, and what comes of it.
#include <algorithm>
#include <atomic>

#include "base/check.h"
#include "base/log.h"
#include "base/planted_fault.h"
#include "engine/model/backends.h"
#include "engine/model/device.h"
#include "engine/model/device_rank.h"
#include "engine/model/device_sampler.h"
#include "engine/parallel/rank_threads.h"

namespace assay::engine {
namespace {

using kernels::gpu::Communicator;
using kernels::gpu::PinnedBuffer;

class DeviceModel final : public Model {
 public:
  // `communicator` is nullptr for one rank.
  DeviceModel(const Checkpoint& checkpoint, const ModelOptions& options,
              std::unique_ptr<Communicator> communicator)
      : config_(checkpoint.config),
        options_(options),
        communicator_(std::move(communicator)),
        threads_(options.tensor_parallel_size),
        ranks_(static_cast<size_t>(threads_.Size())) {
    threads_.Run([&](int rank) {
      if (communicator_ != nullptr) kernels::gpu::UseDevice(communicator_->DeviceOf(rank));
      ranks_[static_cast<size_t>(rank)] = std::make_unique<DeviceRank>(
          checkpoint, options, Shard{rank, threads_.Size()}, communicator_.get());
    });
    sampler_ = std::make_unique<DeviceSampler>(First().LogitRows(), config_.vocab_size);
    host_logits_ = {First().LogitRows() * config_.vocab_size, "pinned memory for logits"};
    host_results_ = {1 + First().LogitRows(), "pinned memory for choices"};
  }

  ~DeviceModel() override {
    threads_.Run([&](int rank) { ranks_[static_cast<size_t>(rank)].reset(); });
  }
  DeviceModel(const DeviceModel&) = delete;

  const ModelConfig& Config() const override { return config_; }
  const std::string& WeightsHash() const override { return hash_; }
  void SetWeightsHash(std::string hash) { hash_ = std::move(hash); }

  StepProfile Profile() const override {
    StepProfile profile = First().Clock().Profile();
    std::atomic<int64_t> expert_bytes{0};
    threads_.Run([&](int rank) { expert_bytes += ranks_[static_cast<size_t>(rank)]->ExpertBytesRead(); });
    profile.weight_bytes += expert_bytes;
    return profile;
  }

  void Forward(std::span<const Sequence> batch, int64_t padded_rows, std::vector<float>& logits) override {
    const BatchRows rows = LayOutRows(batch, padded_rows, config_, options_);
    logits.resize(rows.wanted.size() * static_cast<size_t>(config_.vocab_size));
    if (rows.rows == 0) return;
    kernels::gpu::DescribeWork([batch] { return RequestsOf(batch); });
    threads_.Run([&](int index) {
      DeviceRank& rank = *ranks_[static_cast<size_t>(index)];
      rank.Compute(rows);
      if (index == 0) {
        sampler_->Draw(rank.Stream(), batch, rank.Logits(), rank.Results() + 1);
        ReadResults(batch, logits);
      } else {
        rank.Stream().Wait("a step");
      }
    });
    Count(rows);
    kernels::gpu::DescribeWork({});
  }

  std::span<const int32_t> Picked() const override { return picked_; }

 private:
  DeviceRank& First() const { return *ranks_.front(); }

  // Logits of those that need them, and the tokens of those that have a pick. Waits for the step.
  void ReadResults(std::span<const Sequence> batch, std::vector<float>& logits) {
    const kernels::gpu::Stream& stream = First().Stream();
    const auto vocabulary = static_cast<size_t>(config_.vocab_size);
    picked_.clear();
    for (const Sequence& sequence : batch) {
      if (!sequence.want_logits) continue;
      const size_t at = picked_.size() * vocabulary;
      const bool picks = sequence.pick && sampler_->Draws(*sequence.pick);
      picked_.push_back(picks ? kNothing : kNotPicked);
      if (picks) continue;
      stream.CopyToHost(host_logits_.data() + at, First().Logits() + at, vocabulary * sizeof(float));
    }
    stream.CopyToHost(host_results_.data(), First().Results(), (1 + picked_.size()) * sizeof(int32_t));
    stream.Wait("a step");
    const int32_t routing_counts_gates_that_are_not = host_results_.data()[0];
    if (!Planted(Fault::kUncheckedBit31)) CHECK_EQ(routing_counts_gates_that_are_not, 0);
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

  void Count(const BatchRows& rows) {
    const ModelConfig& c = config_;
    const auto wanted = static_cast<int64_t>(rows.wanted.size());
    int64_t bytes = 0;
    for (const auto& rank : ranks_) bytes += rank->DenseBytes() + (wanted > 0 ? rank->HeadBytes() : 0);
    const int64_t heads = c.num_attention_heads * c.head_dim, kv = c.num_key_value_heads * c.head_dim;
    const int64_t layer = c.hidden_size * (2 * heads + 2 * kv) +
                          3 * c.num_experts_per_tok * c.hidden_size * c.intermediate_size;
    First().Clock().Count(bytes,
                          rows.rows * c.num_hidden_layers * layer + wanted * c.vocab_size * c.hidden_size);
  }

  ModelConfig config_;
  ModelOptions options_;
  std::string hash_;
  std::unique_ptr<Communicator> communicator_;
  mutable RankThreads threads_;
  std::vector<std::unique_ptr<DeviceRank>> ranks_;
  std::unique_ptr<DeviceSampler> sampler_;  // of the first rank
  PinnedBuffer<float> host_logits_;
  PinnedBuffer<int32_t> host_results_;
  std::vector<int32_t> picked_;
};

Result<std::unique_ptr<Communicator>> MakeCommunicator(int ranks) {
  if (ranks == 1) return nullptr;
  if (RanksShareADevice()) {
    spdlog::warn("{} ranks compute on one GPU, one after the other, because ASSAY_GPU_SHARE=1: for tests",
                 ranks);
    return kernels::gpu::MakeSharedDeviceCommunicator(ranks);
  }
  std::string problem;
  auto communicator = kernels::gpu::MakeLibraryCommunicator(ranks, problem);
  if (communicator == nullptr)
    return Fail(ErrorKind::kInfrastructure, "tensor_parallel_size {}: {}", ranks, problem);
  return communicator;
}

}  // namespace

Result<std::unique_ptr<Model>> MakeDeviceModel(const Checkpoint& checkpoint, const ModelOptions& options,
                                               std::future<Result<std::string>> weights_hash) {
  kernels::gpu::DeviceInfo device;
  const std::string missing = kernels::gpu::FindDevice(device);
  if (!missing.empty()) return Fail(ErrorKind::kInfrastructure, "no GPU: {}", missing);
  ASSIGN_OR_RETURN(std::unique_ptr<Communicator> communicator,
                   MakeCommunicator(options.tensor_parallel_size));
  spdlog::info("computing on {} {} ({}, {:.1f} GB free)", options.tensor_parallel_size, device.name,
               device.architecture, static_cast<double>(device.free_bytes) / 1e9);
  auto model = std::make_unique<DeviceModel>(checkpoint, options, std::move(communicator));
  ASSIGN_OR_RETURN(std::string hash, weights_hash.get());
  model->SetWeightsHash(std::move(hash));
  return model;
}

}  // namespace assay::engine
