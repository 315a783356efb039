#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/bf16/bf16.h"
#include "kernels/gpu/runtime.h"
#include "kernels/test_data.h"
#include "kernels/tolerance.h"

namespace assay::kernels::gpu {

// A device buffer that begins as 0xFF bytes, NaNs or -1: a result that nothing writes shows.
template <class T>
DeviceBuffer<T> Unwritten(const Stream& stream, int64_t size) {
  DeviceBuffer<T> buffer(size, "a test's result");
  stream.Fill(buffer.data(), 0xFF, buffer.bytes());
  return buffer;
}
template <class T>
DeviceBuffer<T> Input(const Stream& stream, const std::vector<T>& values) {
  return ToDevice(stream, values, "a test's input");
}

inline std::vector<float> Floats(const std::vector<Bf16>& values) {
  return Widened(values);
}
// As the device gets them: rounded to bf16, and widened again for the reference.
struct Bf16Values {
  std::vector<Bf16> rounded;
  std::vector<float> wide;
  explicit Bf16Values(const std::vector<float>& values) : rounded(Rounded(values)), wide(Widened(rounded)) {}
};

// Sums of exact products: a matrix instruction cuts what a float32 addition would round.
constexpr Tolerance kMatrixInstruction{1e-5, 1e-5};
// Results that are rounded to bf16 at the end.
constexpr Tolerance kBf16Result{2e-5, 1.0 / 256};
// exp of the device against std::exp.
constexpr Tolerance kDeviceExponential{4e-6, 8e-6};

inline double LargestOf(const std::vector<float>& values) {
  double largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

}  // namespace assay::kernels::gpu
