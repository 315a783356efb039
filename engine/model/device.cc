#include "engine/model/device.h"

#include <algorithm>

#include "engine/model/backends.h"
#include "engine/model/batch_rows.h"
#include "kernels/sample/sample_gpu.h"
#if defined(ASSAY_GPU_CUDA) || defined(ASSAY_GPU_HIP)
#define ASSAY_HAS_GPU 1
#include "kernels/gpu/runtime.h"
#endif

namespace assay::engine {

int64_t KvElementBytes(const ModelConfig& config, Device device) {
  if (device == Device::kCpu) return 4;  // float32, rounded through FP8 where the checkpoint says so
  return config.quantization.fp8_kv_cache ? 1 : 2;
}

Status CheckDeviceOptions(const ModelOptions& options) {
  if (options.device == Device::kCpu) return {};
  if (options.tensor_parallel_size != 1) {
    return Fail(ErrorKind::kUsage, "tensor_parallel_size {}: the GPU backend runs on one GPU so far",
                options.tensor_parallel_size);
  }
  if (options.moe_backend != MoeBackend::kGrouped)
    return Fail(ErrorKind::kUsage, "the reference backend runs on the CPU only");
  if (options.dense_dtype != DenseDtype::kBf16 || options.activations == Activations::kInt8)
    return Fail(ErrorKind::kUsage, "int8 runs on the CPU only: the GPU backend multiplies bf16");
  return {};
}

int64_t DeviceScratchBytes(const ModelConfig& c, const ModelOptions& options) {
  constexpr int64_t kFloat = 4, kBf16 = 2, kIndex = 4, kSplits = 4, kWorkspace = int64_t{32} << 20;
  const int64_t q = c.num_attention_heads * c.head_dim, kv = c.num_key_value_heads * c.head_dim;
  const int64_t k = c.num_experts_per_tok;
  const int64_t row = kFloat * (2 * c.hidden_size + c.num_local_experts + k) +
                      kBf16 * (c.hidden_size + 2 * q + 2 * kv) +
                      kFloat * kSplits * c.num_attention_heads * (c.head_dim + 2) + 4 * kIndex * k +
                      k * (kBf16 * c.intermediate_size + kFloat * c.hidden_size);
  return options.max_batch_tokens * row + MaxPositions(c, options) * c.head_dim * kFloat +
         (options.max_requests + 15) / 16 * 16 * (c.vocab_size * kFloat + kernels::gpu::kSampleRowBytes) +
         kWorkspace;
}

#if defined(ASSAY_HAS_GPU)

Result<int64_t> FreeDeviceMemory() {
  kernels::gpu::DeviceInfo device;
  const std::string missing = kernels::gpu::FindDevice(device);
  if (!missing.empty()) return Fail(ErrorKind::kInfrastructure, "no GPU: {}", missing);
  return device.free_bytes;
}

#else
namespace {

auto NotBuilt() {
  return Fail(ErrorKind::kUsage,
              "bad flag: --device gpu: this assay-engine was built without a GPU backend; configure with "
              "-DASSAY_GPU=cuda or -DASSAY_GPU=hip (docs/gpu.md)");
}

}  // namespace

Result<int64_t> FreeDeviceMemory() {
  return NotBuilt();
}

Result<std::unique_ptr<Model> > MakeDeviceModel(const Checkpoint&, const ModelOptions&,
                                                std::future<Result<std::string> >) {
  return NotBuilt();
}

#endif

}  // namespace assay::engine
