#include <cstring>

#include "kernels/mxfp4/mxfp4.h"
#include "kernels/panel/panel.h"
#include "kernels/simd.h"
#include "kernels/unroll.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/mxfp4/mxfp4_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/mxfp4/open-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// store(k, column, element) for a block.
template <class Store>
void DecodeBlock(const Mxfp4PanelBlock& block, const Store& store) {
  for (int64_t k = 0; k < kMxBlock; ++k) {
    for (int64_t n = 0; n < kPanel; ++n) {
      const uint8_t byte = block.nibbles[k / 8][n][Int8Slot(k) % 4];
      const auto nibble = static_cast<uint8_t>(k % 8 < 4 ? byte & 15 : byte >> 4);
      store(k, n, nibble);
    }
  }
}

void DecodeToBf16(const Mxfp4PanelBlock* blocks, int64_t count, Bf16* out) {
  for (int64_t b = 0; b < count; ++b, out += kMxBlock * kPanel) {
    DecodeBlock(blocks[b], [&](int64_t k, int64_t n, uint8_t nibble) {
      out[(k / 2 * kPanel + n) * 2 + k % 2] = ToBf16(DecodeE2M1(nibble) * DecodeE8M0(blocks[b].scales[n]));
    });
  }
}

void OpenToFloat(const Mxfp4PanelBlock* blocks, int64_t count, float* elements, float* scales) {
  for (int64_t b = 0; b < count; ++b) {
    DecodeBlock(blocks[b], [&](int64_t k, int64_t n, uint8_t nibble) {
      elements[(b * kMxBlock + k) * kPanel + n] = DecodeE2M1(nibble);
      scales[b * kPanel + n] = DecodeE8M0(blocks[b].scales[n]);
    });
  }
}

#else

using D = hn::CappedTag<float, 16>;

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

void OpenToFloat(const Mxfp4PanelBlock* blocks, int64_t count, float* elements, float* scales) {
  const D df;
  const hn::RebindToUnsigned<D> du;
  const auto lanes = static_cast<int64_t>(hn::Lanes(du));
  const auto upper_half = hn::Set(du, 0xFFFF0000u);
  const Opener opener = MakeOpener();
  for (int64_t b = 0; b < count; ++b, elements += kMxBlock * kPanel, scales += kPanel) {
    for (int64_t column = 0; column < kPanel; column += lanes) {
      hn::StoreU(Scales(du, blocks[b].scales + column), df, scales + column);
      OpenColumns(opener, blocks[b], column, [&](int64_t pair, auto opened) HWY_ATTR {
        float* to = elements + pair * 2 * kPanel + column;
        hn::StoreU(hn::BitCast(df, hn::ShiftLeft<16>(opened)), df, to);
        hn::StoreU(hn::BitCast(df, hn::And(opened, upper_half)), df, to + kPanel);
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
HWY_EXPORT(OpenToFloat);
void DecodeMxfp4Panel(const Mxfp4PanelBlock* blocks, int64_t count, Bf16* values) {
  HWY_DYNAMIC_DISPATCH(DecodeToBf16)(blocks, count, values);
}
void OpenMxfp4Panel(const Mxfp4PanelBlock* blocks, int64_t count, float* elements, float* scales) {
  HWY_DYNAMIC_DISPATCH(OpenToFloat)(blocks, count, elements, scales);
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
