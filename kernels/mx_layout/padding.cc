#include "kernels/mx_layout/padding.h"

namespace assay::kernels {
namespace {

ExpertSizes ToMultiples(const ExpertSizes& sizes, int64_t hidden, int64_t intermediate) {
  return {RoundUp(sizes.hidden, hidden), RoundUp(sizes.intermediate, intermediate)};
}

}  // namespace

// The kernels decide first, where they have a wish of their own, then the platform.
ExpertSizes PadExpertSizes(MoeKernels kernels, Platform platform, const ExpertSizes& sizes) {
  switch (kernels) {
    case MoeKernels::kEmulation:
      return sizes;
    case MoeKernels::kDeepGemm:
    case MoeKernels::kFlashInferCutlass:
      return ToMultiples(sizes, 128, 128);
    case MoeKernels::kMarlin:
      return ToMultiples(sizes, platform == Platform::kXpu ? 128 : 256, 128);
    case MoeKernels::kFlashInferTrtllm:
      return ToMultiples(sizes, 256, 256);
    case MoeKernels::kTriton:
    case MoeKernels::kAiter:
      break;
  }
  if (platform == Platform::kRocm) return ToMultiples(sizes, 256, 256);
  if (platform == Platform::kCpu) return ToMultiples(sizes, 32, 32);
  return ToMultiples(sizes, 1, 64);
}

}  // namespace assay::kernels
