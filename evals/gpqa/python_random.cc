#include "evals/gpqa/python_random.h"

#include <bit>
#include <numeric>
#include <unordered_set>

#include "base/check.h"

namespace assay::evals {

PythonRandom::PythonRandom(uint64_t seed) {
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  const size_t key_words = key[1] == 0 ? 1 : 2;  // Python drops leading zero words, but keeps one for 0

  state_[0] = 19650218u;
  for (size_t i = 1; i < kWords; ++i) {
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<uint32_t>(i);
  }
  size_t i = 1;
  const auto step = [&] {
    if (++i == kWords) {
      state_[0] = state_[kWords - 1];
      i = 1;
    }
  };
  const auto mixed = [&] { return state_[i - 1] ^ (state_[i - 1] >> 30); };
  for (size_t k = 0, j = 0; k < kWords; ++k) {
    state_[i] = (state_[i] ^ (mixed() * 1664525u)) + key[j] + static_cast<uint32_t>(j);
    step();
    j = (j + 1) % key_words;
  }
  for (size_t k = 1; k < kWords; ++k) {
    state_[i] = (state_[i] ^ (mixed() * 1566083941u)) - static_cast<uint32_t>(i);
    step();
  }
  state_[0] = 0x80000000u;
}

void PythonRandom::Twist() {
  for (size_t i = 0; i < kWords; ++i) {
    const uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kWords] & 0x7fffffffu);
    state_[i] = state_[(i + 397) % kWords] ^ (y >> 1) ^ ((y & 1u) != 0 ? 0x9908b0dfu : 0u);
  }
  next_ = 0;
}

uint32_t PythonRandom::Next32() {
  if (next_ == kWords) Twist();
  uint32_t y = state_[next_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

// getrandbits: the low word is drawn first, the last word gives its high bits.
uint64_t PythonRandom::Bits(int count) {
  if (count <= 32) return Next32() >> (32 - count);
  const uint64_t low = Next32();
  return low | (static_cast<uint64_t>(Next32() >> (64 - count)) << 32);
}

uint64_t PythonRandom::Below(uint64_t n) {
  CHECK_GE(n, 1u);
  const int bits = static_cast<int>(std::bit_width(n));
  uint64_t value = Bits(bits);
  while (value >= n) value = Bits(bits);
  return value;
}

std::vector<size_t> PythonRandom::Sample(size_t n, size_t k) {
  CHECK_LE(k, n);
  // Python picks the method by memory: a pool of n when that is smaller than a set of k.
  size_t set_size = 21;
  if (k > 5) {
    size_t table = 4;
    while (table < 3 * k) table *= 4;
    set_size += table;
  }

  std::vector<size_t> sample(k);
  if (n <= set_size) {
    std::vector<size_t> pool(n);
    std::iota(pool.begin(), pool.end(), size_t{0});
    for (size_t i = 0; i < k; ++i) {
      const size_t j = Below(n - i);
      sample[i] = pool[j];
      pool[j] = pool[n - i - 1];
    }
    return sample;
  }
  std::unordered_set<size_t> taken;
  for (size_t& chosen : sample) {
    do chosen = Below(n);
    while (!taken.insert(chosen).second);
  }
  return sample;
}

}  // namespace assay::evals
