#pragma once

#include <cstdint>

namespace assay::kernels::gpu {

// ids[t]: the largest of logits[t, ..], ties to the lower id, as greedy sampling takes it; -1 for a row that
// says nothing, with a NaN or +infinity or all -infinity. Written and read here: keys [rows, kArgmaxParts].
constexpr int kArgmaxParts = 32;
void Argmax(void* stream, const float* logits, int64_t rows, int64_t vocabulary, uint64_t* keys,
            int32_t* ids);

}  // namespace assay::kernels::gpu
