#pragma once

// Numbers of the KV cache on the device: bf16, or codes of E4M3, whose scale is the caller's.
#include "kernels/attention/attention_gpu.h"
#include "kernels/gpu/device.h"

namespace assay::kernels::gpu {

// As EncodeFp8 of the host.
__device__ inline E4M3 EncodeE4M3(float x) {
  const float rounded = RoundToE4M3(x);
  if (isnan(rounded)) return 0x7F;
  // A float32 of 2^-120 times the number has the code's bits, 20 places up, subnormals too.
  const uint32_t bits = __float_as_uint(rounded * __uint_as_float((127u - 120u) << 23));
  return static_cast<E4M3>((bits >> 24 & 0x80u) | (bits >> 20 & 0x7Fu));
}

// The two codes in the lower half of a word, as DecodeFp8 of the host.
__device__ inline void DecodeE4M3(uint32_t codes, float& low, float& high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  asm("{.reg .b32 pair; .reg .b16 l, h; cvt.rn.f16x2.e4m3x2 pair, %2; mov.b32 {l, h}, pair;"
      " cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
      : "=f"(low), "=f"(high)
      : "h"(static_cast<uint16_t>(codes)));
#else
  const auto decode = [](uint32_t code) {
    const uint32_t size = code & 0x7Fu;
    const float number =
        __uint_as_float((code & 0x80u) << 24 | size << 20) * __uint_as_float((127u + 120u) << 23);
    return size == 0x7Fu ? __uint_as_float(0x7FC00000u) : number;
  };
  low = decode(codes);
  high = decode(codes >> 8);
#endif
}

// kBytes of memory, aligned to as many, by one load; or zeros.
template <int kBytes>
struct Words {
  uint32_t word[(kBytes + 3) / 4];
};
template <int kBytes>
__device__ inline Words<kBytes> LoadWords(bool there, const void* from) {
  if constexpr (kBytes == 16) {
    const uint4 words = LoadOrZero(there, from);
    return {{words.x, words.y, words.z, words.w}};
  } else if constexpr (kBytes == 8) {
    const uint2 words = there ? *static_cast<const uint2*>(from) : uint2{0, 0};
    return {{words.x, words.y}};
  } else if constexpr (kBytes == 4) {
    return {{there ? *static_cast<const uint32_t*>(from) : 0u}};
  } else if constexpr (kBytes == 2) {
    return {{there ? *static_cast<const uint16_t*>(from) : 0u}};
  } else {
    static_assert(kBytes == 1);
    return {{there ? *static_cast<const uint8_t*>(from) : 0u}};
  }
}

// Numbers that follow each other, aligned to all of them together, as float32; or zeros.
template <int kCount>
__device__ inline void LoadNumbers(bool there, const Bf16* from, float (&to)[kCount]) {
  const Words<2 * kCount> words = LoadWords<2 * kCount>(there, from);
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    to[i] = i % 2 == 0 ? WidenLow(words.word[i / 2]) : WidenHigh(words.word[i / 2]);
}
template <int kCount>
__device__ inline void LoadNumbers(bool there, const E4M3* from, float (&to)[kCount]) {
  const Words<kCount> words = LoadWords<kCount>(there, from);
#pragma unroll
  for (int i = 0; i < kCount; i += 2) {
    float low, high;
    DecodeE4M3(words.word[i / 4] >> (i % 4 * 8), low, high);
    to[i] = low;
    if (i + 1 < kCount) to[i + 1] = high;
  }
}

// Eight numbers as pairs of bf16, which hold codes exactly.
__device__ inline uint4 LoadPairs(const Bf16* from) {
  return *reinterpret_cast<const uint4*>(from);
}
__device__ inline uint4 LoadPairs(const E4M3* from) {
  float number[8];
  LoadNumbers(true, from, number);
  return {UpperHalves(number[0], number[1]), UpperHalves(number[2], number[3]),
          UpperHalves(number[4], number[5]), UpperHalves(number[6], number[7])};
}

}  // namespace assay::kernels::gpu
