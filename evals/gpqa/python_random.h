#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::evals {

// CPython's random.Random, as far as the question order needs it: the same seed gives the same numbers as
// Python 3.8 to 3.13. MT19937 seeded by init_by_array (Matsumoto and Nishimura, 2002).
class PythonRandom {
 public:
  explicit PythonRandom(uint64_t seed);

  uint32_t Next32();
  // Uniform in [0, n), n >= 1: draws bit_length(n) bits until they are below n. n = 1 still draws.
  uint64_t Below(uint64_t n);
  // random.sample(range(n), k), k <= n.
  std::vector<size_t> Sample(size_t n, size_t k);

 private:
  static constexpr size_t kWords = 624;

  uint64_t Bits(int count);
  void Twist();

  std::array<uint32_t, kWords> state_;
  size_t next_ = kWords;
};

}  // namespace assay::evals
