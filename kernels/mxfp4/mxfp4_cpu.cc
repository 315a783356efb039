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

void DecodePanel(const uint8_t* packed, int64_t k, Bf16* panel) {
  const D df;
  const hn::RebindToUnsigned<D> du;
  const hn::Repartition<uint8_t, D> d8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  const auto upper_table = hn::LoadDup128(d8, kUpper);
  const auto lower_table = hn::LoadDup128(d8, kLower);
  const auto nibbles = hn::Set(du, 0x000F000Fu);
  const auto upper_half = hn::Set(du, 0xFFFF0000u);
  const auto no_upper = hn::Set(du, 0xFF00FF00u);
  for (int64_t b = 0; b < k / kMxBlock; ++b, packed += kMxPanelBlockBytes, panel += kMxBlock * kPanel) {
    for (int64_t column = 0; column < kPanel; column += lanes) {
      const auto scale = Scales(du, packed + column);
      for (int64_t pair = 0; pair < 16; ++pair) {
        const auto byte = LoadBytes(du, packed + kPanel + pair * kPanel + column);
        const auto index = hn::And(hn::Or(byte, hn::ShiftLeft<12>(byte)), nibbles);
        const auto index8 = hn::BitCast(d8, index);
        const auto lower = hn::AndNot(no_upper, hn::BitCast(du, hn::TableLookupBytes(lower_table, index8)));
        const auto upper = hn::BitCast(du, hn::TableLookupBytes(upper_table, index8));
        const auto values = hn::Or(lower, hn::ShiftLeft<8>(hn::AndNot(no_upper, upper)));
        const auto even = hn::Mul(hn::BitCast(df, hn::ShiftLeft<16>(values)), scale);
        const auto odd = hn::Mul(hn::BitCast(df, hn::And(values, upper_half)), scale);
        const auto both =
            hn::Or(hn::ShiftRight<16>(hn::BitCast(du, even)), hn::And(hn::BitCast(du, odd), upper_half));
        hn::StoreU(both, du, reinterpret_cast<uint32_t*>(panel) + pair * kPanel + column);
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
