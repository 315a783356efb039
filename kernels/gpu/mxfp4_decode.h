#pragma once

// MXFP4 numbers on the device; kernels/mxfp4/mxfp4.h says what they are.
#include "kernels/gpu/device.h"

namespace assay::kernels::gpu {

// 2^(byte - 127), 0 is 2^-127 and 255 is NaN: as DecodeE8M0 of the host.
__device__ inline float ScaleOf(uint8_t byte) {
  if (byte == 255) return __uint_as_float(0x7FC00000u);
  return __uint_as_float(byte == 0 ? 0x00400000u : static_cast<uint32_t>(byte) << 23);
}
// A nibble's magnitude bits at the border of exponent and mantissa of a float32 are the number times 2^-126.
__device__ inline float DecodeNibble(uint32_t nibble) {
  return __uint_as_float((nibble & 8u) << 28 | (nibble & 7u) << 22) * __uint_as_float(253u << 23);
}

}  // namespace assay::kernels::gpu
