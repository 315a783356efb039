#include "kernels/roofline/roofline.h"

#include <cstring>

#include "kernels/unroll.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::kernels {
namespace {

constexpr int kChains = 12;  // latency times throughput of the cores we know, within 16 registers

// Values that no compiler can foresee, and a place where results count as used.
template <typename T>
void Launder(T& value) {
  asm volatile("" : "+x"(value));
}

#if defined(__x86_64__)

__attribute__((target("avx2,fma"))) void FloatAvx2(int64_t rounds) {
  __m256 sums[kChains], x = _mm256_set1_ps(1e-3f), y = _mm256_set1_ps(0.999f);
  ASSAY_UNROLL for (int c = 0; c < kChains; ++c) sums[c] = _mm256_setzero_ps();
  Launder(x);
  for (int64_t i = 0; i < rounds; ++i) {
    ASSAY_UNROLL for (int c = 0; c < kChains; ++c) sums[c] = _mm256_fmadd_ps(x, y, sums[c]);
    ASSAY_UNROLL for (int c = 0; c < kChains; ++c) Launder(sums[c]);
  }
}

// As a product of unsigned and signed bytes has it without VNNI: 16-bit pair sums, added in 16 bits.
__attribute__((target("avx2"))) void Int8Avx2(int64_t rounds) {
  __m256i sums[kChains], x = _mm256_set1_epi8(3), y = _mm256_set1_epi8(-1);
  ASSAY_UNROLL for (int c = 0; c < kChains; ++c) sums[c] = _mm256_setzero_si256();
  Launder(x);
  for (int64_t i = 0; i < rounds; ++i) {
    ASSAY_UNROLL for (int c = 0; c < kChains; ++c) {
      Launder(y);
      sums[c] = _mm256_add_epi16(sums[c], _mm256_maddubs_epi16(x, y));
    }
    ASSAY_UNROLL for (int c = 0; c < kChains; ++c) Launder(sums[c]);
  }
}

__attribute__((target("avx512f"))) void FloatAvx512(int64_t rounds) {
  __m512 sums[kChains], x = _mm512_set1_ps(1e-3f), y = _mm512_set1_ps(0.999f);
  ASSAY_UNROLL for (int c = 0; c < kChains; ++c) sums[c] = _mm512_setzero_ps();
  Launder(x);
  for (int64_t i = 0; i < rounds; ++i) {
    ASSAY_UNROLL for (int c = 0; c < kChains; ++c) sums[c] = _mm512_fmadd_ps(x, y, sums[c]);
    ASSAY_UNROLL for (int c = 0; c < kChains; ++c) Launder(sums[c]);
  }
}

__attribute__((target("avx512f,avx512vnni"))) void Int8Vnni(int64_t rounds) {
  __m512i sums[kChains], x = _mm512_set1_epi32(0x01020301), y = _mm512_set1_epi32(0x7F810203);
  ASSAY_UNROLL for (int c = 0; c < kChains; ++c) sums[c] = _mm512_setzero_si512();
  Launder(x);
  for (int64_t i = 0; i < rounds; ++i) {
    ASSAY_UNROLL for (int c = 0; c < kChains; ++c) sums[c] = _mm512_dpbusd_epi32(sums[c], x, y);
    ASSAY_UNROLL for (int c = 0; c < kChains; ++c) Launder(sums[c]);
  }
}

__attribute__((target("avx512f,avx512bf16"))) void Bf16Dot(int64_t rounds) {
  __m512 sums[kChains];
  __m512i x = _mm512_set1_epi16(0x3F00), y = _mm512_set1_epi16(0x3F7F);
  ASSAY_UNROLL for (int c = 0; c < kChains; ++c) sums[c] = _mm512_setzero_ps();
  Launder(x);
  for (int64_t i = 0; i < rounds; ++i) {
    ASSAY_UNROLL for (int c = 0; c < kChains; ++c) {
      sums[c] = _mm512_dpbf16_ps(sums[c], reinterpret_cast<__m512bh>(x), reinterpret_cast<__m512bh>(y));
    }
    ASSAY_UNROLL for (int c = 0; c < kChains; ++c) Launder(sums[c]);
  }
}

#endif

void FloatPortable(int64_t rounds) {
  float sums[kChains] = {}, x = 1e-3f;
  for (int64_t i = 0; i < rounds; ++i) {
    for (float& sum : sums) sum += x * 0.999f;
    asm volatile("" : : "r"(sums) : "memory");
  }
}

}  // namespace

uint64_t ReadAll(std::span<const uint8_t> bytes) {
  constexpr size_t kLine = 64, kAhead = 1024;
  uint64_t sums[kLine / 8] = {};
  for (size_t at = 0; at + kLine <= bytes.size(); at += kLine) {
    __builtin_prefetch(bytes.data() + at + kAhead);
    ASSAY_UNROLL for (size_t i = 0; i < kLine / 8; ++i) {
      uint64_t word;
      std::memcpy(&word, bytes.data() + at + 8 * i, sizeof(word));
      sums[i] ^= word;
    }
  }
  uint64_t all = 0;
  for (const uint64_t sum : sums) all ^= sum;
  return all;
}

std::vector<PeakLoop> PeakLoops() {
  std::vector<PeakLoop> loops;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    loops.push_back({"float32 FMA", kChains * 16 * 2, FloatAvx512});
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    loops.push_back({"float32 FMA", kChains * 8 * 2, FloatAvx2});
  }
  if (__builtin_cpu_supports("avx512bf16")) loops.push_back({"bf16 dot product", kChains * 32 * 2, Bf16Dot});
  if (__builtin_cpu_supports("avx512vnni")) {
    loops.push_back({"int8 dot product", kChains * 64 * 2, Int8Vnni});
  } else if (__builtin_cpu_supports("avx2")) {
    loops.push_back({"int8 multiply-add", kChains * 32 * 2, Int8Avx2});
  }
#endif
  if (loops.empty()) loops.push_back({"float32 multiply-add", kChains * 2, FloatPortable});
  return loops;
}

}  // namespace assay::kernels
