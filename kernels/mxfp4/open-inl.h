// MXFP4 elements of a packed panel opened in registers. Included once a target by *_cpu.cc, after
// hwy/highway.h; there is none for HWY_SCALAR.
#if defined(ASSAY_KERNELS_MXFP4_OPEN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_MXFP4_OPEN_INL_H_
#undef ASSAY_KERNELS_MXFP4_OPEN_INL_H_
#else
#define ASSAY_KERNELS_MXFP4_OPEN_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/mxfp4/mxfp4.h"
#include "kernels/unroll.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// Upper and lower byte of E2M1 values 0 .5 1 1.5 2 3 4 6 as bf16.
alignas(16) constexpr uint8_t kUpper[16] = {0x00, 0x3F, 0x3F, 0x3F, 0x40, 0x40, 0x40, 0x40,
                                            0x80, 0xBF, 0xBF, 0xBF, 0xC0, 0xC0, 0xC0, 0xC0};
alignas(16) constexpr uint8_t kLower[16] = {0x00, 0x00, 0x80, 0xC0, 0x00, 0x40, 0x80, 0xC0,
                                            0x00, 0x00, 0x80, 0xC0, 0x00, 0x40, 0x80, 0xC0};

using OpenFloats = hn::CappedTag<float, 16>;

// Bytes 0 .. lanes to one 32-bit lane each.
template <class DU>
HWY_INLINE hn::Vec<DU> LoadBytes(DU du, const uint8_t* bytes) {
  return hn::PromoteTo(du, hn::LoadU(hn::Rebind<uint8_t, DU>(), bytes));
}

// 2^(byte - 127) exactly: the exponent field is the byte, except that 0 is the subnormal 2^-127 and 255 NaN.
template <class DU>
HWY_INLINE hn::Vec<OpenFloats> Scales(DU du, const uint8_t* bytes) {
  const auto byte = LoadBytes(du, bytes);
  auto bits = hn::ShiftLeft<23>(byte);
  bits = hn::IfThenElse(hn::Eq(byte, hn::Zero(du)), hn::Set(du, 0x00400000u), bits);
  bits = hn::IfThenElse(hn::Eq(byte, hn::Set(du, 255)), hn::Set(du, 0x7FC00000u), bits);
  return hn::BitCast(OpenFloats(), bits);
}

// The eight elements of each lane's column, k and k + 1 in one lane as bf16 without scale: pairs[0] holds k =
// 0 and 1 of the eight, pairs[3] holds 6 and 7.
#if HWY_TARGET == HWY_AVX3
alignas(64) constexpr uint16_t kBf16E2M1[32] = {0x0000, 0x3F00, 0x3F80, 0x3FC0, 0x4000, 0x4040,
                                                0x4080, 0x40C0, 0x8000, 0xBF00, 0xBF80, 0xBFC0,
                                                0xC000, 0xC040, 0xC080, 0xC0C0};
alignas(64) constexpr float kFloatE2M1[16] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                                              -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};
struct Opener {
  __m512i table;
  __m512 floats;
  template <class V>
  HWY_INLINE V Lookup(V index) const {
    return V{_mm512_permutexvar_epi16(_mm512_and_si512(index.raw, _mm512_set1_epi32(0x000F000F)), table)};
  }
  template <class V>
  HWY_INLINE void Open(V nibbles, V* pairs) const {
    pairs[0] = Lookup(nibbles);
    pairs[1] = Lookup(hn::ShiftRight<8>(nibbles));
    pairs[2] = Lookup(hn::ShiftRight<4>(nibbles));
    pairs[3] = Lookup(hn::ShiftRight<12>(nibbles));
  }
  // The permutation looks at four bits of a lane only, so nothing is masked.
  template <int kShift, class V>
  HWY_INLINE hn::Vec<OpenFloats> Wide(V nibbles) const {
    const __m512i index = kShift == 0 ? nibbles.raw : _mm512_srli_epi32(nibbles.raw, kShift);
    return hn::Vec<OpenFloats>{_mm512_permutexvar_ps(index, floats)};
  }
  template <class V>
  HWY_INLINE void OpenWide(V nibbles, hn::Vec<OpenFloats>* eight) const {
    eight[0] = Wide<0>(nibbles);
    eight[1] = Wide<16>(nibbles);
    eight[2] = Wide<8>(nibbles);
    eight[3] = Wide<24>(nibbles);
    eight[4] = Wide<4>(nibbles);
    eight[5] = Wide<20>(nibbles);
    eight[6] = Wide<12>(nibbles);
    eight[7] = Wide<28>(nibbles);
  }
};
HWY_INLINE Opener MakeOpener() {
  return {_mm512_load_si512(kBf16E2M1), _mm512_load_ps(kFloatE2M1)};
}
#else
struct Opener {
  using D8 = hn::Repartition<uint8_t, OpenFloats>;
  hn::Vec<D8> upper, lower;
  // Four bytes, each an element in its low half: elements 0, 2, 1, 3.
  template <class V>
  HWY_INLINE void OpenFour(V elements, V* pairs) const {
    const hn::RebindToUnsigned<OpenFloats> du;
    const hn::Repartition<uint16_t, OpenFloats> d16;
    const auto index = hn::BitCast(D8(), hn::And(elements, hn::Set(du, 0x0F0F0F0Fu)));
    const auto high = hn::BitCast(d16, hn::TableLookupBytes(upper, index));
    const auto low = hn::BitCast(d16, hn::TableLookupBytes(lower, index));
    const auto low_byte = hn::Set(d16, 0x00FF);
    pairs[0] = hn::BitCast(du, hn::Or(hn::And(low, low_byte), hn::ShiftLeft<8>(high)));
    pairs[1] = hn::BitCast(du, hn::Or(hn::ShiftRight<8>(low), hn::AndNot(low_byte, high)));
  }
  template <class V>
  HWY_INLINE void Open(V nibbles, V* pairs) const {
    OpenFour(nibbles, pairs);
    OpenFour(hn::ShiftRight<4>(nibbles), pairs + 2);
  }
  // The same as eight vectors of float32, in the order of k.
  template <class V>
  HWY_INLINE void OpenWide(V nibbles, hn::Vec<OpenFloats>* eight) const {
    const hn::RebindToUnsigned<OpenFloats> du;
    V pairs[4];
    Open(nibbles, pairs);
    ASSAY_UNROLL for (int pair = 0; pair < 4; ++pair) {
      eight[2 * pair] = hn::BitCast(OpenFloats(), hn::ShiftLeft<16>(pairs[pair]));
      eight[2 * pair + 1] = hn::BitCast(OpenFloats(), hn::And(pairs[pair], hn::Set(du, 0xFFFF0000u)));
    }
  }
};
HWY_INLINE Opener MakeOpener() {
  const Opener::D8 d8;
  return {hn::LoadDup128(d8, kUpper), hn::LoadDup128(d8, kLower)};
}
#endif

#endif

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
