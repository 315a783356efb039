#include "evals/serving/random.h"

#include <cmath>
#include <numbers>

namespace assay::evals {

SplitMix64::SplitMix64(std::initializer_list<uint64_t> keys) {
  for (const uint64_t key : keys) {
    state_ ^= key;
    state_ = Next();
  }
}

uint64_t SplitMix64::Next() {
  state_ += 0x9e3779b97f4a7c15u;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double SplitMix64::Uniform() {
  return static_cast<double>((Next() >> 11) + 1) * 0x1p-53;
}

double SplitMix64::Normal() {
  const double radius = std::sqrt(-2 * std::log(Uniform()));
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

double SplitMix64::Gamma(double shape) {
  if (shape == 1) return -std::log(Uniform());
  if (shape < 1) return Gamma(shape + 1) * std::pow(Uniform(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = Normal();
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(Uniform()) < x * x / 2 + d * (1 - v + std::log(v))) return d * v;
  }
}

uint64_t NameKey(std::string_view name) {
  uint64_t key = 0xcbf29ce484222325u;
  for (const char c : name) key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return key;
}

}  // namespace assay::evals
