#include "engine/model/device.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include "engine/model/backends.h"
#include "engine/model/batch_rows.h"
#include "kernels/sample/sample_gpu.h"
#if defined(ASSAY_GPU_CUDA) || defined(ASSAY_GPU_HIP)
#define ASSAY_HAS_GPU 1
#include "kernels/collective/communicator.h"
#include "kernels/gpu/runtime.h"
#endif

namespace assay::engine {

int64_t KvElementBytes(const ModelConfig& config, Device device) {
  if (device == Device::kCpu) return 4;  // float32, rounded through FP8 where the checkpoint says so
  return config.quantization.fp8_kv_cache ? 1 : 2;
}

bool RanksShareADevice() {
  const char* share = std::getenv("ASSAY_GPU_SHARE");
  return share != nullptr && std::string_view(share) == "1";
}

namespace {

// A rank's columns move sixteen bytes at a time, as bf16 or float32.
Status CheckShards(const ModelConfig& c, int ranks) {
  const std::pair<const char*, int64_t> cut[] = {{"hidden_size", c.hidden_size},
                                                 {"intermediate_size", c.intermediate_size},
                                                 {"vocab_size", c.vocab_size}};
  constexpr int64_t kColumns = 8;
  for (const auto& [name, size] : cut) {
    if (ranks == 1 || size % (ranks * kColumns) == 0) continue;
    return Fail(
        ErrorKind::kUsage,
        "tensor_parallel_size {0} on GPUs needs a {1} that is a multiple of {0} * {2}, and {1} is {3}", ranks,
        name, kColumns, size);
  }
  return {};
}

}  // namespace

Status CheckDeviceOptions(const ModelConfig& config, const ModelOptions& options) {
  if (options.device == Device::kCpu) {
    if (options.moe_backend != MoeBackend::kFused) return {};
    return Fail(ErrorKind::kUsage,
                "the fused backend runs on a GPU only: add --device gpu, or take --moe-backend grouped");
  }
  RETURN_IF_ERROR(CheckShards(config, options.tensor_parallel_size));
  if (options.moe_backend == MoeBackend::kReference)
    return Fail(ErrorKind::kUsage, "the reference backend runs on the CPU only");
  if (options.moe_backend == MoeBackend::kFused && options.batch_invariant) {
    return Fail(
        ErrorKind::kUsage,
        "the fused backend is for batches of few rows, which --batch-invariant computes like any other: "
        "leave out one of the two");
  }
  if (options.dense_dtype != DenseDtype::kBf16 || options.activations == Activations::kInt8)
    return Fail(ErrorKind::kUsage, "int8 runs on the CPU only: the GPU backend multiplies bf16");
  return {};
}

int64_t DeviceScratchBytes(const ModelConfig& c, const ModelOptions& options) {
  constexpr int64_t kFloat = 4, kBf16 = 2, kIndex = 4, kSplits = 4, kWorkspace = int64_t{32} << 20;
  constexpr int64_t kLibrary = int64_t{1} << 30;  // what NCCL may take of each device
  const int64_t ranks = options.tensor_parallel_size;
  const int64_t q = c.num_attention_heads * c.head_dim, kv = c.num_key_value_heads * c.head_dim;
  const int64_t k = c.num_experts_per_tok;
  // Of a row: what ranks cut between them, and what each has whole.
  const int64_t cut = kFloat * c.hidden_size + kBf16 * (2 * q + 2 * kv) +
                      kFloat * kSplits * c.num_attention_heads * (c.head_dim + 2) +
                      k * (kBf16 * c.intermediate_size + kFloat * c.hidden_size);
  const int64_t whole =
      (kFloat + kBf16) * c.hidden_size + kFloat * (c.num_local_experts + k) + 4 * kIndex * k;
  const int64_t logit_rows = (options.max_requests + 15) / 16 * 16;
  const int64_t logits = logit_rows * c.vocab_size * kFloat;
  // Each of several has room for all that they gather, twice.
  const int64_t widest = std::max({kFloat * c.hidden_size, kBf16 * q, kBf16 * k * c.intermediate_size});
  const int64_t gathered =
      ranks == 1 ? 0 : 2 * std::max(options.max_batch_tokens * widest, logits) + kLibrary;
  const int64_t table = MaxPositions(c, options) * c.head_dim * kFloat;
  return options.max_batch_tokens * (cut + ranks * whole) + logits +
         logit_rows * kernels::gpu::kSampleRowBytes + ranks * (table + gathered + kWorkspace);
}

#if defined(ASSAY_HAS_GPU)

Result<int64_t> FreeDeviceMemory(int ranks) {
  const int devices = RanksShareADevice() ? 1 : ranks;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < devices; ++i) {
    kernels::gpu::DeviceInfo device;
    const std::string missing = kernels::gpu::FindDevice(device, i);
    if (missing.empty()) {
      least = std::min(least, device.free_bytes);
    } else if (devices == 1) {
      return Fail(ErrorKind::kInfrastructure, "no GPU: {}", missing);
    } else {
      return Fail(ErrorKind::kInfrastructure, "tensor_parallel_size {} takes as many GPUs: {}", ranks,
                  missing);
    }
  }
  if (devices > 1) {
    const std::string problem = kernels::gpu::CheckLibraryCommunicator(ranks);
    if (!problem.empty())
      return Fail(ErrorKind::kInfrastructure, "tensor_parallel_size {}: {}", ranks, problem);
  }
  return devices * least;
}

#else
namespace {

auto NotBuilt() {
  return Fail(ErrorKind::kUsage,
              "bad flag: --device gpu: this assay-engine was built without a GPU backend; configure with "
              "-DASSAY_GPU=cuda or -DASSAY_GPU=hip (docs/gpu.md)");
}

}  // namespace

Result<int64_t> FreeDeviceMemory(int) {
  return NotBuilt();
}

Result<std::unique_ptr<Model> > MakeDeviceModel(const Checkpoint&, const ModelOptions&,
                                                std::future<Result<std::string> >) {
  return NotBuilt();
}

#endif

}  // namespace assay::engine
