#pragma once

#include <cstdint>

namespace assay::kernels {

inline int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// To what sizes a GPU engine pads gpt-oss's experts before it lays them out.
enum class MoeKernels {
  kDeepGemm,
  kMarlin,
  kFlashInferTrtllm,
  kFlashInferCutlass,
  kTriton,
  kAiter,
  kEmulation
};
enum class Platform { kCuda, kRocm, kXpu, kCpu };

struct ExpertSizes {
  int64_t hidden, intermediate;  // intermediate: of one tensor-parallel rank
  bool operator==(const ExpertSizes&) const = default;
};
ExpertSizes PadExpertSizes(MoeKernels kernels, Platform platform, const ExpertSizes& sizes);

}  // namespace assay::kernels
