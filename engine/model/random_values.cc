#include "engine/model/random_values.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "base/hash.h"
#include "kernels/mxfp4/mxfp4.h"

namespace assay::engine {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr int64_t kWordsOfABlock = kernels::kMxBlockBytes / 8;

}  // namespace

RandomStream::RandomStream(uint64_t seed, std::string_view name)
    : start_(seed ^ std::stoull(Sha256(name).substr(0, 16), nullptr, 16)) {}

void FillNormal(const RandomStream& stream, float deviation, int64_t first, int64_t count,
                kernels::Bf16* out) {
  const float unit = deviation / RandomStream::kNormalDeviation;
  for (int64_t i = 0; i < count; ++i) {
    out[i] = kernels::ToBf16(static_cast<float>(stream.Normal(first + i)) * unit);
  }
}

void FillNearOne(const RandomStream& stream, float deviation, int64_t first, int64_t count,
                 kernels::Bf16* out) {
  const float unit = deviation / RandomStream::kNormalDeviation;
  for (int64_t i = 0; i < count; ++i) {
    // Explicit, or a compiler would contract on some machines and not on others.
    out[i] = kernels::ToBf16(std::fma(static_cast<float>(stream.Normal(first + i)), unit, 1.0f));
  }
}

void RandomMxfp4::Blocks(int64_t first, int64_t count, uint8_t* out) const {
  for (int64_t word = 0; word < count * kWordsOfABlock; ++word) {
    const uint64_t bytes = blocks.Word(first * kWordsOfABlock + word);
    std::memcpy(out + word * 8, &bytes, 8);
  }
}

void RandomMxfp4::Scales(int64_t first, int64_t count, uint8_t* out) const {
  for (int64_t i = 0; i < count; ++i) {
    const auto lower = static_cast<int>(scales.Word((first + i) / 64) >> ((first + i) % 64) & 1);
    out[i] = static_cast<uint8_t>(127 + exponent - lower);
  }
}

void RandomMxfp4::Transposed(int64_t first, int64_t rows, int64_t block, kernels::Bf16* out) const {
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t index = (first + row) * (k / kernels::kMxBlock) + block;
    uint8_t bytes[kernels::kMxBlockBytes], scale;
    float values[kernels::kMxBlock];
    Blocks(index, 1, bytes);
    Scales(index, 1, &scale);
    kernels::DecodeMxfp4(bytes, &scale, 1, values);
    for (int64_t i = 0; i < kernels::kMxBlock; ++i) out[i * rows + row] = kernels::ToBf16(values[i]);
  }
}

}  // namespace assay::engine
