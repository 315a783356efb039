#include "kernels/mx_layout/value_layout.h"

#include <bit>
#include <cstring>

#include "kernels/mx_layout/padding.h"

namespace assay::kernels {
namespace {

static_assert(std::endian::native == std::endian::little);

bool IsHopper(ValueLayout layout) {
  return layout == ValueLayout::kHopperMma2 || layout == ValueLayout::kHopperMma3;
}

// Bits of both 16-bit halves.
uint32_t Both(uint32_t half) {
  return half | half << 16;
}
// A byte's low nibble to the low half, its high nibble to the high half.
uint32_t Halves(uint32_t byte) {
  return (byte & 15) | (byte >> 4) << 16;
}

// One nibble in each half to sign at bit 15 and the rest at bits 8 to 6, where a bf16 has them.
uint32_t Spread(uint32_t halves) {
  return (halves & Both(8)) << 12 | (halves & Both(7)) << 6;
}
uint32_t Gather(uint32_t spread) {
  return (spread & Both(0x8000)) >> 12 | (spread & Both(0x01C0)) >> 6;
}
// The fourth byte takes the bits that the other three leave free: 14, 13, 11 and 10.
uint32_t SpreadLast(uint32_t halves) {
  return (halves & Both(8)) << 11 | (halves & Both(6)) << 9 | (halves & Both(1)) << 13;
}
uint32_t GatherLast(uint32_t word) {
  return (word & Both(0x4000)) >> 11 | (word & Both(0x0C00)) >> 9 | (word & Both(0x2000)) >> 13;
}

// In place, all words of a buffer.
void EachWord(std::vector<uint8_t>& bytes, uint32_t (*change)(uint32_t)) {
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    uint32_t word;
    std::memcpy(&word, &bytes[i], 4);
    word = change(word);
    std::memcpy(&bytes[i], &word, 4);
  }
}

}  // namespace

uint32_t InterleaveNibbles(uint32_t bytes) {
  uint32_t word = SpreadLast(Halves(bytes >> 24));
  for (int i = 0; i < 3; ++i) word |= Spread(Halves(bytes >> (8 * i) & 255)) >> (3 * i);
  return word;
}

uint32_t SeparateNibbles(uint32_t word) {
  const auto byte = [](uint32_t halves) { return (halves & 15) | (halves >> 16 & 15) << 4; };
  uint32_t bytes = byte(GatherLast(word)) << 24;
  for (int i = 0; i < 3; ++i) bytes |= byte(Gather(word << (3 * i))) << (8 * i);
  return bytes;
}

ValueShape StoredShape(ValueLayout layout, const ValueShape& shape) {
  if (layout == ValueLayout::kStrided) return shape;
  if (layout == ValueLayout::kBlackwell) return {shape.n, RoundUp(shape.k, 128)};
  return {RoundUp(shape.n, 64), RoundUp(shape.k, 256)};
}

int64_t ValueOffset(ValueLayout layout, const ValueShape& stored, int64_t n, int64_t k) {
  if (!IsHopper(layout)) return n * stored.k + k;
  const int64_t row = n / 16 * 4 + n / 2 % 4;
  const int64_t within = layout == ValueLayout::kHopperMma3
                             ? k % 4 * 16 + k / 8 % 4 * 4 + k / 4 % 2 * 2 + n / 8 % 2
                             : k / 4 % 4 * 16 + k / 16 % 2 * 8 + n / 8 % 2 * 4 + k % 4;
  return row * (stored.k * 4) + k / 32 * 128 + n % 2 * 64 + within;
}

std::vector<uint8_t> LayOutValues(ValueLayout layout, const ValueShape& shape,
                                  std::span<const uint8_t> bytes) {
  const ValueShape stored = StoredShape(layout, shape);
  std::vector<uint8_t> out(static_cast<size_t>(stored.n * stored.k));
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int64_t k = 0; k < shape.k; ++k) {
      out[static_cast<size_t>(ValueOffset(layout, stored, n, k))] =
          bytes[static_cast<size_t>(n * shape.k + k)];
    }
  }
  if (IsHopper(layout)) EachWord(out, InterleaveNibbles);
  return out;
}

std::vector<uint8_t> ReadValues(ValueLayout layout, const ValueShape& shape,
                                std::span<const uint8_t> laid_out) {
  const ValueShape stored = StoredShape(layout, shape);
  std::vector<uint8_t> in(laid_out.begin(), laid_out.end()), bytes(static_cast<size_t>(shape.n * shape.k));
  if (IsHopper(layout)) EachWord(in, SeparateNibbles);
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int64_t k = 0; k < shape.k; ++k) {
      bytes[static_cast<size_t>(n * shape.k + k)] =
          in[static_cast<size_t>(ValueOffset(layout, stored, n, k))];
    }
  }
  return bytes;
}

}  // namespace assay::kernels
