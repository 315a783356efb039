#include "engine/scheduler/philox.h"

namespace assay::engine {
namespace {

constexpr uint32_t kDrawStream = 0;
constexpr uint32_t kSeedStream = 1;

uint64_t Bits(uint64_t seed, uint64_t index, uint32_t stream) {
  const auto out = Philox({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), stream, 0},
                          {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return (static_cast<uint64_t>(out[1]) << 32) | out[0];
}

}  // namespace

std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

double UniformDraw(uint64_t seed, uint64_t index) {
  return static_cast<double>(Bits(seed, index, kDrawStream) >> 11) * 0x1p-53;
}

uint64_t DerivedSeed(uint64_t seed, uint64_t index) {
  return Bits(seed, index, kSeedStream);
}

}  // namespace assay::engine
