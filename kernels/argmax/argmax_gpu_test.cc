#include "kernels/argmax/argmax_gpu.h"

#include <algorithm>

#include "kernels/gpu/gpu_test_support.h"

namespace assay::kernels::gpu {
namespace {

std::vector<int32_t> Largest(const std::vector<float>& logits, int64_t rows) {
  const Stream stream;
  const auto device = Input(stream, logits);
  const auto keys = Unwritten<uint64_t>(stream, rows * kArgmaxParts);
  const auto ids = Unwritten<int32_t>(stream, rows);
  Argmax(stream.handle(), device.data(), rows, static_cast<int64_t>(logits.size()) / rows, keys.data(),
         ids.data());
  return ToHost(stream, ids);
}

TEST(ArgmaxGpu, TakesTheLargestOfEachRow) {
  for (const int64_t vocabulary : {1, 7, 1024, 201088}) {
    const std::vector<float> logits = TestData(5).Values(3 * vocabulary);
    std::vector<int32_t> expected;
    for (int64_t t = 0; t < 3; ++t) {
      const auto row = logits.begin() + t * vocabulary;
      expected.push_back(static_cast<int32_t>(std::max_element(row, row + vocabulary) - row));
    }
    EXPECT_EQ(Largest(logits, 3), expected) << vocabulary;
  }
}

TEST(ArgmaxGpu, TiesGoToTheLowerIdAndRowsThatSayNothingAreMinusOne) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Largest({1, 2, 2, 0}, 1), std::vector<int32_t>{1});
  EXPECT_EQ(Largest({-0.0f, 0.0f, -1, -1}, 1), std::vector<int32_t>{0});
  EXPECT_EQ(Largest({-inf, -3, -inf, -4}, 1), std::vector<int32_t>{1});
  EXPECT_EQ(Largest({1, nan, 2, 0}, 1), std::vector<int32_t>{-1});
  EXPECT_EQ(Largest({1, -nan, 2, 0}, 1), std::vector<int32_t>{-1});
  EXPECT_EQ(Largest({1, inf, 2, 0}, 1), std::vector<int32_t>{-1});
  EXPECT_EQ(Largest({-inf, -inf, -inf, -inf}, 1), std::vector<int32_t>{-1});
}

}  // namespace
}  // namespace assay::kernels::gpu
