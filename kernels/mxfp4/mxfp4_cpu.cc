#include <cstring>

#include "kernels/mxfp4/mxfp4.h"
#include "kernels/panel/panel.h"
#include "kernels/simd.h"
#include "kernels/unroll.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/mxfp4/mxfp4_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// values(k, column) of a block.
template <class Store>
void DecodeBlock(const Mxfp4PanelBlock& block, const Store& store) {
  for (int64_t k = 0; k < kMxBlock; ++k) {
    for (int64_t n = 0; n < kPanel; ++n) {
      const uint8_t byte = block.nibbles[k / 8][n][Int8Slot(k) % 4];
      const auto nibble = static_cast<uint8_t>(k % 8 < 4 ? byte & 15 : byte >> 4);
      store(k, n, DecodeE2M1(nibble) * DecodeE8M0(block.scales[n]));
    }
  }
}

void DecodeToBf16(const Mxfp4PanelBlock* blocks, int64_t count, Bf16* out) {
  for (int64_t b = 0; b < count; ++b, out += kMxBlock * kPanel) {
    DecodeBlock(blocks[b], [&](int64_t k, int64_t n, float value) {
      out[(k / 2 * kPanel + n) * 2 + k % 2] = ToBf16(value);
    });
  }
}

void DecodeToFloat(const Mxfp4PanelBlock* blocks, int64_t count, float* out) {
  for (int64_t b = 0; b < count; ++b, out += kMxBlock * kPanel) {
    DecodeBlock(blocks[b], [&](int64_t k, int64_t n, float value) { out[k * kPanel + n] = value; });
  }
}

#else

// Upper and lower byte of E2M1 values 0 .5 1 1.5 2 3 4 6 as bf16.
alignas(16) constexpr uint8_t kUpper[16] = {0x00, 0x3F, 0x3F, 0x3F, 0x40, 0x40, 0x40, 0x40,
                                            0x80, 0xBF, 0xBF, 0xBF, 0xC0, 0xC0, 0xC0, 0xC0};
alignas(16) constexpr uint8_t kLower[16] = {0x00, 0x00, 0x80, 0xC0, 0x00, 0x40, 0x80, 0xC0,
                                            0x00, 0x00, 0x80, 0xC0, 0x00, 0x40, 0x80, 0xC0};

using D = hn::CappedTag<float, 16>;

// Bytes 0 .. lanes to one 32-bit lane each.
template <class DU>
HWY_INLINE hn::Vec<DU> LoadBytes(DU du, const uint8_t* bytes) {
  return hn::PromoteTo(du, hn::LoadU(hn::Rebind<uint8_t, DU>(), bytes));
}

// 2^(byte - 127) exactly: the exponent field is the byte, except that 0 is the subnormal 2^-127 and 255 NaN.
template <class DU>
HWY_INLINE hn::Vec<D> Scales(DU du, const uint8_t* bytes) {
  const auto byte = LoadBytes(du, bytes);
  auto bits = hn::ShiftLeft<23>(byte);
  bits = hn::IfThenElse(hn::Eq(byte, hn::Zero(du)), hn::Set(du, 0x00400000u), bits);
  bits = hn::IfThenElse(hn::Eq(byte, hn::Set(du, 255)), hn::Set(du, 0x7FC00000u), bits);
  return hn::BitCast(D(), bits);
}

// The eight elements of each lane's column, k and k + 1 in one lane as bf16 without scale: pairs[0] holds k =
// 0 and 1 of the eight, pairs[3] holds 6 and 7.
#if HWY_TARGET == HWY_AVX3
alignas(64) constexpr uint16_t kBf16E2M1[32] = {0x0000, 0x3F00, 0x3F80, 0x3FC0, 0x4000, 0x4040,
                                                0x4080, 0x40C0, 0x8000, 0xBF00, 0xBF80, 0xBFC0,
                                                0xC000, 0xC040, 0xC080, 0xC0C0};
struct Opener {
  __m512i table;
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
};
HWY_INLINE Opener MakeOpener() {
  return {_mm512_load_si512(kBf16E2M1)};
}
#else
struct Opener {
  using D8 = hn::Repartition<uint8_t, D>;
  hn::Vec<D8> upper, lower;
  // Four bytes, each an element in its low half: elements 0, 2, 1, 3.
  template <class V>
  HWY_INLINE void OpenFour(V elements, V* pairs) const {
    const hn::RebindToUnsigned<D> du;
    const hn::Repartition<uint16_t, D> d16;
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
};
HWY_INLINE Opener MakeOpener() {
  const Opener::D8 d8;
  return {hn::LoadDup128(d8, kUpper), hn::LoadDup128(d8, kLower)};
}
#endif

// Pairs of bf16 times the scale of their lane, for any scale.
template <class V>
HWY_INLINE V ScaleByProduct(V pairs, hn::Vec<D> scale) {
  const D df;
  const hn::RebindToUnsigned<D> du;
  const auto upper_half = hn::Set(du, 0xFFFF0000u);
  const auto even = hn::Mul(hn::BitCast(df, hn::ShiftLeft<16>(pairs)), scale);
  const auto odd = hn::Mul(hn::BitCast(df, hn::And(pairs, upper_half)), scale);
  return hn::Or(hn::ShiftRight<16>(hn::BitCast(du, even)), hn::And(hn::BitCast(du, odd), upper_half));
}

// The same by adding to the exponent of what is not zero; right where no product leaves the normal range.
template <class V>
HWY_INLINE V ScaleByExponent(V pairs, V delta) {
  const hn::RebindToUnsigned<D> du;
  const hn::Repartition<uint16_t, D> d16;
  const auto halves = hn::BitCast(d16, pairs);
  const auto zero = hn::Eq(hn::And(halves, hn::Set(d16, 0x7FFF)), hn::Zero(d16));
  return hn::BitCast(du, hn::Add(halves, hn::IfThenZeroElse(zero, hn::BitCast(d16, delta))));
}

// The columns of one vector, from `column` on: store(pair of k, pair of values).
template <class Store>
HWY_INLINE void OpenColumns(const Opener& opener, const Mxfp4PanelBlock& block, int64_t column,
                            const Store& store) {
  const hn::RebindToUnsigned<D> du;
  for (int64_t row = 0; row < 4; ++row) {
    hn::Vec<decltype(du)> pairs[4];
    opener.Open(hn::LoadU(du, reinterpret_cast<const uint32_t*>(block.nibbles[row][column])), pairs);
    ASSAY_UNROLL for (int64_t pair = 0; pair < 4; ++pair) store(row * 4 + pair, pairs[pair]);
  }
}

void DecodeToBf16(const Mxfp4PanelBlock* blocks, int64_t count, Bf16* values) {
  const hn::RebindToUnsigned<D> du;
  const auto lanes = static_cast<int64_t>(hn::Lanes(du));
  const Opener opener = MakeOpener();
  auto* out = reinterpret_cast<uint32_t*>(values);
  for (int64_t b = 0; b < count; ++b, out += kMxBlock / 2 * kPanel) {
    for (int64_t column = 0; column < kPanel; column += lanes) {
      const auto byte = LoadBytes(du, blocks[b].scales + column);
      // Magnitudes 0.5 to 6 have exponents 126 to 129: 2 <= byte <= 252 keeps them within 1 to 254.
      const auto plain = hn::Sub(byte, hn::Set(du, 2));
      if (hn::AllTrue(du, hn::Lt(plain, hn::Set(du, 251)))) {
        const auto exponent = hn::And(hn::ShiftLeft<7>(hn::Sub(byte, hn::Set(du, 127))), hn::Set(du, 0xFFFF));
        const auto delta = hn::Or(exponent, hn::ShiftLeft<16>(exponent));
        OpenColumns(opener, blocks[b], column, [&](int64_t pair, auto opened) HWY_ATTR {
          hn::StoreU(ScaleByExponent(opened, delta), du, out + pair * kPanel + column);
        });
      } else {
        const auto scale = Scales(du, blocks[b].scales + column);
        OpenColumns(opener, blocks[b], column, [&](int64_t pair, auto opened) HWY_ATTR {
          hn::StoreU(ScaleByProduct(opened, scale), du, out + pair * kPanel + column);
        });
      }
    }
  }
}

void DecodeToFloat(const Mxfp4PanelBlock* blocks, int64_t count, float* out) {
  const D df;
  const hn::RebindToUnsigned<D> du;
  const auto lanes = static_cast<int64_t>(hn::Lanes(du));
  const auto upper_half = hn::Set(du, 0xFFFF0000u);
  const Opener opener = MakeOpener();
  for (int64_t b = 0; b < count; ++b, out += kMxBlock * kPanel) {
    for (int64_t column = 0; column < kPanel; column += lanes) {
      const auto scale = Scales(du, blocks[b].scales + column);
      OpenColumns(opener, blocks[b], column, [&](int64_t pair, auto opened) HWY_ATTR {
        float* to = out + pair * 2 * kPanel + column;
        hn::StoreU(hn::Mul(hn::BitCast(df, hn::ShiftLeft<16>(opened)), scale), df, to);
        hn::StoreU(hn::Mul(hn::BitCast(df, hn::And(opened, upper_half)), scale), df, to + kPanel);
      });
    }
  }
}

#endif

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(DecodeToBf16);
HWY_EXPORT(DecodeToFloat);
void DecodeMxfp4Panel(const Mxfp4PanelBlock* blocks, int64_t count, Bf16* values) {
  HWY_DYNAMIC_DISPATCH(DecodeToBf16)(blocks, count, values);
}
void DecodeMxfp4Panel(const Mxfp4PanelBlock* blocks, int64_t count, float* values) {
  HWY_DYNAMIC_DISPATCH(DecodeToFloat)(blocks, count, values);
}

void PackMxfp4Panel(const uint8_t* blocks, const uint8_t* scales, int64_t k, std::span<const int64_t> columns,
                    uint8_t* packed) {
  const int64_t blocks_a_row = k / kMxBlock;
  std::memset(packed, 0, static_cast<size_t>(Mxfp4PanelBytes(k)));
  auto* panel = reinterpret_cast<Mxfp4PanelBlock*>(packed);
  for (size_t column = 0; column < columns.size(); ++column) {
    for (int64_t b = 0; b < blocks_a_row; ++b) {
      const int64_t source = columns[column] * blocks_a_row + b;
      panel[b].scales[column] = scales[source];
      for (int64_t i = 0; i < kMxBlock; ++i) {
        const uint8_t pair = blocks[source * kMxBlockBytes + i / 2];
        const int nibble = i % 2 == 0 ? pair & 15 : pair >> 4;
        uint8_t& byte = panel[b].nibbles[i / 8][column][Int8Slot(i) % 4];
        byte = static_cast<uint8_t>(byte | (i % 8 < 4 ? nibble : nibble << 4));
      }
    }
  }
}

}  // namespace assay::kernels
#endif
