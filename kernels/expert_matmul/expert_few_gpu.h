#pragma once

#include "kernels/expert_matmul/expert_matmul_gpu.h"

namespace assay::kernels::gpu {

// The two products for batches that give an expert few rows: weights go from memory straight to the lanes
// that multiply them, and the k of a column is shared by the lanes of a block. Other order of additions than
// the tiles.
bool FewRowsFit(const ExpertLayer& layer, const ExpertBatch& batch);
void ExpertGateUpFew(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* x, Bf16* a,
                     bool fp8);
void ExpertDownFew(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* a,
                   float* out);

}  // namespace assay::kernels::gpu
