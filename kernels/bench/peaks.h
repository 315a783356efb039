#pragma once

// What this machine can do at best, measured beside each product: for benchmarks.
#include <chrono>
#include <cstdint>

#include "kernels/unroll.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define ASSAY_AVX2 __attribute__((target("avx2,fma")))
#endif

namespace assay::kernels {

inline double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Bytes read in one sweep; the sum keeps the compiler from leaving the loads out.
inline uint64_t ReadAll(const uint64_t* from, int64_t words) {
  uint64_t sums[16] = {};
  for (int64_t i = 0; i + 16 <= words; i += 16) {
    for (int j = 0; j < 16; ++j) sums[j] += from[i + j];
  }
  uint64_t sum = 0;
  for (const uint64_t s : sums) sum += s;
  return sum;
}

#if defined(__x86_64__)
// Operations of `rounds` of 12 independent chains; two a multiply-add.
ASSAY_AVX2 inline double FmaOperations(int64_t rounds) {
  __m256 sums[12];
  ASSAY_UNROLL for (int i = 0; i < 12; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
  for (int64_t r = 0; r < rounds; ++r) {
    asm volatile("" : "+x"(a), "+x"(b));
    ASSAY_UNROLL for (int i = 0; i < 12; ++i) sums[i] = _mm256_fmadd_ps(sums[i], a, b);
  }
  ASSAY_UNROLL for (int i = 0; i < 12; ++i) asm volatile("" : : "x"(sums[i]));
  return static_cast<double>(rounds) * 12 * 16;
}
// Eight chains of maddubs and the addition to int16 that goes with each.
ASSAY_AVX2 inline double MaddubsOperations(int64_t rounds) {
  __m256i sums[8];
  ASSAY_UNROLL for (int i = 0; i < 8; ++i) sums[i] = _mm256_set1_epi16(static_cast<int16_t>(i));
  const __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(5);
  for (int64_t r = 0; r < rounds; ++r) {
    ASSAY_UNROLL for (int i = 0; i < 8; ++i) {
      __m256i product;
      asm volatile("vpmaddubsw %2, %1, %0" : "=x"(product) : "x"(a), "x"(b));
      sums[i] = _mm256_add_epi16(sums[i], product);
    }
  }
  ASSAY_UNROLL for (int i = 0; i < 8; ++i) asm volatile("" : : "x"(sums[i]));
  return static_cast<double>(rounds) * 8 * 64;
}
#endif

}  // namespace assay::kernels
