#pragma once

#include "kernels/expert_matmul/expert_matmul_gpu.h"

namespace assay::kernels::gpu {

// The two products by gfx950's scaled matrix instruction, for layers of MXFP4 weights and FP8 codes. Sums are
// of the same exact products as elsewhere, which the instruction adds in its own order.
bool ScaledFits(const ExpertLayer& layer);
void ExpertGateUpScaled(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* x,
                        Bf16* a);
void ExpertDownScaled(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* a,
                      float* out);

}  // namespace assay::kernels::gpu
