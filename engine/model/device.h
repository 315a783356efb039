#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/model/model.h"

namespace assay::engine {

// Bytes of one number of the KV cache: on a GPU one where the checkpoint says FP8.
int64_t KvElementBytes(const ModelConfig& config, Device device);

// What the devices of so many ranks have left together, as far as ranks alike can use it, or why there are
// none: this build knows no GPU, or the machine has too few.
Result<int64_t> FreeDeviceMemory(int ranks);

// ASSAY_GPU_SHARE=1 in the environment: all ranks on one GPU, one waiting for the other. For tests where
// there are not enough.
bool RanksShareADevice();

// Answers kUsage for what the device does not do.
Status CheckDeviceOptions(const ModelConfig& config, const ModelOptions& options);

// Activations of one step and what else is held beside weights and cache, of all ranks together.
int64_t DeviceScratchBytes(const ModelConfig& config, const ModelOptions& options);

}  // namespace assay::engine
