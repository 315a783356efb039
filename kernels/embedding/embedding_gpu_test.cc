#include "kernels/embedding/embedding_gpu.h"

#include "kernels/gpu/gpu_test_support.h"

namespace assay::kernels::gpu {
namespace {

TEST(EmbeddingGpu, CopiesRowsAndMarksPadding) {
  const Stream stream;
  const int64_t hidden = 333;
  const Bf16Values table(TestData(1).Values(7 * hidden));
  const std::vector<int32_t> tokens{3, -1, 0, 6};
  const auto device_table = Input(stream, table.rounded);
  const auto device_tokens = Input(stream, tokens);
  for (const bool poison : {false, true}) {
    const auto x = Unwritten<float>(stream, 4 * hidden);
    Embed(stream.handle(), {device_table.data(), device_tokens.data(), 4, hidden, x.data(), poison});
    const std::vector<float> rows = ToHost(stream, x);
    for (int64_t i = 0; i < 4 * hidden; ++i) {
      const float value = rows[static_cast<size_t>(i)];
      const int32_t token = tokens[static_cast<size_t>(i / hidden)];
      if (token >= 0) {
        ASSERT_EQ(value, table.wide[static_cast<size_t>(token * hidden + i % hidden)]);
      } else if (poison) {
        ASSERT_FALSE(std::isfinite(value));
      } else {
        ASSERT_EQ(value, 0);
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels::gpu
