#pragma once

#include <cstdint>

#include "base/file.h"
#include "base/result.h"
#include "engine/model/model.h"

namespace assay::engine {

// Bytes that serving a model takes.
struct MemoryNeed {
  int64_t weights = 0;  // packed once; the mapped files themselves can be dropped and read again
  int64_t cache = 0;    // when every KV block is in use
  int64_t scratch = 0;  // activations of one step, tables and logits
  int64_t Total() const { return weights + cache + scratch; }
};
// Without reading the weights: from the sizes of `folder`'s safetensors files.
MemoryNeed EstimateMemory(const Path& folder, const ModelConfig& config, const ModelOptions& options,
                          int64_t cache_bytes);

// What this process may still take: MemAvailable, or less when a control group above it allows less. `root`
// is where /proc and /sys are found. Nothing when the system does not say.
struct MemoryLimit {
  int64_t bytes = 0;
  std::string whose;  // "the machine", "the control group /a/b"
};
Result<MemoryLimit> AvailableMemory(const Path& root = "/");

// An error with the arithmetic when the need is beyond the limit.
Status CheckMemory(const MemoryNeed& need, const MemoryLimit& limit);

}  // namespace assay::engine
