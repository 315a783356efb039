#pragma once

#include "kernels/gpu/runtime.h"

namespace assay::kernels::gpu {

// What the device can do at best, for speeds to be held against. Memory is taken while it is measured and
// given back.

// Bytes a second that are read from device memory, from `bytes` of it; the best of a few passes.
double ReadBandwidth(const Stream& stream, int64_t bytes);
// Multiplies and adds a second of a large product of bf16 matrices of random numbers, two for a multiply-add;
// by the vendor's library where there is one.
double MatmulRate(const Stream& stream, int64_t size);

}  // namespace assay::kernels::gpu
