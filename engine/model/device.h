#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/model/model.h"

namespace assay::engine {

// Bytes of one number of the KV cache: on a GPU one where the checkpoint says FP8.
int64_t KvElementBytes(const ModelConfig& config, Device device);

// What the device has left, or why there is none: this build knows no GPU, or the machine has none.
Result<int64_t> FreeDeviceMemory();

// Answers kUsage for what the GPU backend does not do.
Status CheckDeviceOptions(const ModelOptions& options);

// Activations of one step and what else is held beside weights and cache.
int64_t DeviceScratchBytes(const ModelConfig& config, const ModelOptions& options);

}  // namespace assay::engine
