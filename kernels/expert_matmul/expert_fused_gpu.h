#pragma once

#include "kernels/expert_matmul/expert_matmul_gpu.h"

namespace assay::kernels::gpu {

// ExpertGateUp, ExpertDown and ExpertCombine of few rows in one launch, with the same bits: blocks of threads
// take pieces of the first product, then of the second, and the last piece of a run of columns adds up the
// slots. The weights of what a block does next are on their way while it multiplies and while it waits.

// Whether a batch is computed so: `few_rows`, MXFP4 that the products for few rows take, and not more tiles
// than a block has room for.
bool ExpertsFuse(const ExpertLayer& layer, const ExpertBatch& batch);

// Numbers of `counters` for products with so many columns of the second matrix.
int64_t FusedCounters(int64_t hidden);

// y[t] += the experts' share. x [tokens, hidden], a [gates, intermediate] and out [gates, hidden] for what is
// between, y [tokens, hidden]. `counters` are zeros before and again after; launches that may run at the same
// time need counters of their own.
void ExpertsFused(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* x, bool fp8,
                  Bf16* a, float* out, float* y, uint32_t* counters);

}  // namespace assay::kernels::gpu
