#include "engine/model/model.h"

#include "base/planted_fault.h"
#include "engine/model/backends.h"
#include "engine/model/batch_rows.h"
#include "engine/model/device.h"
#include "engine/model/layer_experts.h"

namespace assay::engine {
namespace {

void PlantIn(ModelConfig& config) {
  if (Planted(Fault::kRopeTruncation)) config.rope_truncate = !config.rope_truncate;
  if (Planted(Fault::kWindowOffByOne)) --config.sliding_window;
  if (Planted(Fault::kTop3)) --config.num_experts_per_tok;
  if (Planted(Fault::kNoSwigluLimit)) config.swiglu_limit = 1e30;
}

}  // namespace

Status CheckModelOptions(const ModelConfig& config, const ModelOptions& options) {
  const int64_t ranks = options.tensor_parallel_size;
  const auto at_least_one = [](const char* name, int64_t value) -> Status {
    if (value >= 1) return {};
    return Fail(ErrorKind::kUsage, "{} must be at least 1, got {}", name, value);
  };
  RETURN_IF_ERROR(at_least_one("tensor_parallel_size", ranks));
  RETURN_IF_ERROR(at_least_one("max_batch_tokens", options.max_batch_tokens));
  RETURN_IF_ERROR(at_least_one("max_requests", options.max_requests));
  RETURN_IF_ERROR(at_least_one("num_blocks", options.num_blocks));
  if (options.threads < 0)
    return Fail(ErrorKind::kUsage, "threads must not be negative, got {}", options.threads);
  if (options.block_size < 16 || options.block_size % 16 != 0) {
    return Fail(ErrorKind::kUsage, "block_size must be a multiple of 16 tokens, got {}", options.block_size);
  }
  if (config.num_key_value_heads % ranks != 0) {
    return Fail(ErrorKind::kUsage,
                "tensor_parallel_size {0} does not divide the {1} key-value heads: {1} = {0} * {2} + {3}",
                ranks, config.num_key_value_heads, config.num_key_value_heads / ranks,
                config.num_key_value_heads % ranks);
  }
  return CheckDeviceOptions(config, options);
}

kernels::RotaryTable RotaryTableOf(const ModelConfig& config, const ModelOptions& options) {
  return kernels::MakeRotaryTable(
      {config.head_dim, config.rope_theta, config.rope_factor, config.rope_beta_fast, config.rope_beta_slow,
       config.rope_original_max_position, config.rope_truncate},
      MaxPositions(config, options));
}

Result<std::unique_ptr<Model>> Model::Load(const Path& folder, const ModelOptions& options) {
  ASSIGN_OR_RETURN(Checkpoint checkpoint, OpenCheckpoint(folder));
  PlantIn(checkpoint.config);
  if (Status status = CheckModelOptions(checkpoint.config, options); !status) {
    return FailWithin(folder.string(), status.error());
  }
  WarnOfUnequalScales(checkpoint);
  WarnOfUnlikelyGateUpOrder(checkpoint);
  // Beside the packing: both go through the files from front to back, so that they are read once.
  std::future<Result<std::string>> hash =
      std::async(std::launch::async, [&] { return CheckpointHash(folder, checkpoint.files); });
  if (options.device == Device::kGpu) return MakeDeviceModel(checkpoint, options, std::move(hash));
  return options.moe_backend == MoeBackend::kReference
             ? MakeReferenceModel(checkpoint, options, std::move(hash))
             : MakeGroupedModel(checkpoint, options, std::move(hash));
}

}  // namespace assay::engine
