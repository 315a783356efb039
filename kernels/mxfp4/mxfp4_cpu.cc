#include <cstring>

#include "kernels/mxfp4/mxfp4.h"
#include "kernels/panel/panel.h"
#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/mxfp4/mxfp4_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void DecodePanel(const uint8_t* packed, int64_t k, Bf16* panel) {
  for (int64_t b = 0; b < k / kMxBlock; ++b, packed += kMxPanelBlockBytes) {
    for (int64_t byte = 0; byte < 16 * kPanel; ++byte, panel += 2) {
      const float scale = DecodeE8M0(packed[byte % kPanel]);
      const uint8_t pair = packed[kPanel + byte];
      panel[0] = ToBf16(DecodeE2M1(pair & 15) * scale);
      panel[1] = ToBf16(DecodeE2M1(static_cast<uint8_t>(pair >> 4)) * scale);
    }
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

// The pairs of elements of 32-bit lanes' bytes as pairs of bf16, without scale.
#if HWY_TARGET == HWY_AVX3
alignas(64) constexpr uint16_t kBf16E2M1[32] = {0x0000, 0x3F00, 0x3F80, 0x3FC0, 0x4000, 0x4040,
                                                0x4080, 0x40C0, 0x8000, 0xBF00, 0xBF80, 0xBFC0,
                                                0xC000, 0xC040, 0xC080, 0xC0C0};
struct PairTable {
  __m512i table;
  template <class V>
  HWY_INLINE V Lookup(V index) const {
    return V{_mm512_permutexvar_epi16(index.raw, table)};
  }
};
HWY_INLINE PairTable LoadPairTable() {
  return {_mm512_load_si512(kBf16E2M1)};
}
#else
struct PairTable {
  hn::Vec<hn::Repartition<uint8_t, D> > upper = hn::LoadDup128(hn::Repartition<uint8_t, D>(), kUpper);
  hn::Vec<hn::Repartition<uint8_t, D> > lower = hn::LoadDup128(hn::Repartition<uint8_t, D>(), kLower);
  template <class V>
  HWY_INLINE V Lookup(V index) const {
    const hn::RebindToUnsigned<D> du;
    const auto bytes = hn::BitCast(hn::Repartition<uint8_t, D>(), index);
    const auto low_bytes = hn::Set(du, 0x00FF00FFu);
    const auto high = hn::And(hn::BitCast(du, hn::TableLookupBytes(upper, bytes)), low_bytes);
    const auto low = hn::And(hn::BitCast(du, hn::TableLookupBytes(lower, bytes)), low_bytes);
    return hn::Or(low, hn::ShiftLeft<8>(high));
  }
};
HWY_INLINE PairTable LoadPairTable() {
  const hn::Repartition<uint8_t, D> d8;
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

// 16 rows of pairs for the lanes of `columns` on.
template <class Scale>
HWY_INLINE void DecodeColumns(const PairTable& table, const uint8_t* pairs, uint32_t* out,
                              const Scale& scale) {
  const hn::RebindToUnsigned<D> du;
  const auto nibbles = hn::Set(du, 0x000F000Fu);
  for (int64_t pair = 0; pair < 16; ++pair) {
    const auto byte = LoadBytes(du, pairs + pair * kPanel);
    const auto index = hn::And(hn::Or(byte, hn::ShiftLeft<12>(byte)), nibbles);
    hn::StoreU(scale(table.Lookup(index)), du, out + pair * kPanel);
  }
}

void DecodePanel(const uint8_t* packed, int64_t k, Bf16* panel) {
  const hn::RebindToUnsigned<D> du;
  const auto lanes = static_cast<int64_t>(hn::Lanes(du));
  const PairTable table = LoadPairTable();
  for (int64_t b = 0; b < k / kMxBlock; ++b, packed += kMxPanelBlockBytes, panel += kMxBlock * kPanel) {
    for (int64_t column = 0; column < kPanel; column += lanes) {
      const uint8_t* pairs = packed + kPanel + column;
      auto* out = reinterpret_cast<uint32_t*>(panel) + column;
      const auto byte = LoadBytes(du, packed + column);
      // Magnitudes 0.5 to 6 have exponents 126 to 129: 2 <= byte <= 252 keeps them within 1 to 254.
      const auto plain = hn::Sub(byte, hn::Set(du, 2));
      if (hn::AllTrue(du, hn::Lt(plain, hn::Set(du, 251)))) {
        const auto exponent = hn::And(hn::ShiftLeft<7>(hn::Sub(byte, hn::Set(du, 127))), hn::Set(du, 0xFFFF));
        const auto delta = hn::Or(exponent, hn::ShiftLeft<16>(exponent));
        DecodeColumns(table, pairs, out,
                      [&](auto values) HWY_ATTR { return ScaleByExponent(values, delta); });
      } else {
        const auto scale = Scales(du, packed + column);
        DecodeColumns(table, pairs, out, [&](auto values) HWY_ATTR { return ScaleByProduct(values, scale); });
      }
    }
  }
}

#endif

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(DecodePanel);
void DecodeMxfp4Panel(const uint8_t* packed, int64_t k, Bf16* panel) {
  HWY_DYNAMIC_DISPATCH(DecodePanel)(packed, k, panel);
}

void PackMxfp4Panel(const uint8_t* blocks, const uint8_t* scales, int64_t k, std::span<const int64_t> columns,
                    uint8_t* packed) {
  const int64_t blocks_a_row = k / kMxBlock;
  std::memset(packed, 0, static_cast<size_t>(Mxfp4PanelBytes(k)));
  for (size_t column = 0; column < columns.size(); ++column) {
    for (int64_t b = 0; b < blocks_a_row; ++b) {
      const int64_t source = columns[column] * blocks_a_row + b;
      uint8_t* block = packed + b * kMxPanelBlockBytes;
      block[column] = scales[source];
      for (int64_t pair = 0; pair < kMxBlockBytes; ++pair) {
        block[kPanel + pair * kPanel + static_cast<int64_t>(column)] = blocks[source * kMxBlockBytes + pair];
      }
    }
  }
}

}  // namespace assay::kernels
#endif
