#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace assay::evals {

// SplitMix64 (Steele, Lea, Flood 2014): the numbers behind arrivals and prompts, the same on every platform.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  // A stream of its own for each list of keys.
  SplitMix64(std::initializer_list<uint64_t> keys);

  uint64_t Next();
  double Uniform();            // (0, 1]
  double Normal();             // Box and Muller 1958, one of the pair
  double Gamma(double shape);  // scale 1; Marsaglia and Tsang 2000
  // [0, n); the bias of the remainder is below 2^-32 for n below 2^32.
  uint64_t Below(uint64_t n) { return Next() % n; }

 private:
  uint64_t state_ = 0;
};

// FNV-1a, to use a name as a key.
uint64_t NameKey(std::string_view name);

}  // namespace assay::evals
