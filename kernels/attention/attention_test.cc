#include "kernels/attention/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/test_data.h"
#include "kernels/tolerance.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

// One sequence in a paged cache whose every unwritten number is NaN.
struct Scene {
  int64_t head_dim, group, tokens, block_size;
  std::vector<float> keys, values, q, sinks;
  std::vector<int32_t> blocks;

  Scene(int64_t dim, int64_t heads, int64_t length, int64_t block, uint32_t seed = 1)
      : head_dim(dim), group(heads), tokens(length), block_size(block) {
    TestData data(seed);
    const int64_t used = (tokens + block - 1) / block, pool = used + 3;
    keys.assign(static_cast<size_t>(pool * block * dim), std::numeric_limits<float>::quiet_NaN());
    values = keys;
    for (int64_t b = 0; b < used; ++b) blocks.push_back(static_cast<int32_t>(pool - 1 - b));  // not in order
    for (int64_t t = 0; t < tokens; ++t) {
      const std::vector<float> key = data.Values(dim, 0.3f), value = data.Values(dim);
      StoreKeyValue(Cache(), blocks[static_cast<size_t>(t / block)], t % block, key.data(), value.data());
    }
    q = data.Values(tokens * heads * dim, 0.3f);
    sinks = data.Values(heads);
  }
  PagedHead Cache() { return {keys.data(), values.data(), block_size * head_dim, block_size, head_dim}; }

  std::vector<float> Run(void (*attention)(const PagedHead&, const AttentionRows&), int64_t start,
                         int64_t rows, int64_t window) {
    std::vector<float> out(static_cast<size_t>(rows * group * head_dim));
    const int64_t stride = group * head_dim;
    attention(Cache(), {q.data() + start * stride, stride, out.data(), stride, rows, start, window, blocks,
                        sinks.data(), group, 1 / std::sqrt(static_cast<float>(head_dim))});
    return out;
  }
};

TEST(Attention, SinkOnlyEnlargesTheDenominator) {
  Scene scene(16, 1, 1, 16);
  const PagedHead cache = scene.Cache();
  const std::vector<float> key(16, 0.0f), value(16, 3.0f);
  StoreKeyValue(cache, scene.blocks[0], 0, key.data(), value.data());
  scene.sinks[0] = std::log(2.0f);  // exp(0) / (exp(0) + 2) = 1/3
  for (const auto attention : {AttentionReference, Attention}) {
    for (const float out : scene.Run(attention, 0, 1, 0)) EXPECT_NEAR(out, 1.0f, 1e-6);
  }
}

TEST(Attention, WindowOf128KeepsExactly128Keys) {
  // All keys alike, no sink to speak of: the result is the mean of the values in the window.
  Scene scene(16, 1, 300, 16);
  const PagedHead cache = scene.Cache();
  for (int64_t t = 0; t < 300; ++t) {
    const std::vector<float> key(16, 0.0f), value(16, static_cast<float>(t));
    StoreKeyValue(cache, scene.blocks[static_cast<size_t>(t / 16)], t % 16, key.data(), value.data());
  }
  scene.sinks[0] = -1000;
  for (const auto attention : {AttentionReference, Attention}) {
    const std::vector<float> out = scene.Run(attention, 0, 300, 128);
    EXPECT_NEAR(out[127 * 16], 63.5, 1e-4) << "positions 0..127";
    EXPECT_NEAR(out[128 * 16], 64.5, 1e-4) << "positions 1..128";
    EXPECT_NEAR(out[299 * 16], 235.5, 1e-3) << "positions 172..299";
  }
}

TEST(Attention, MatchesTheReference) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const int64_t head_dim : {16, 32, 64, 128}) {
      for (const int64_t group : {1, 3, 4, 8, 9}) {
        for (const int64_t window : {0, 5, 128}) {
          for (const int64_t block : {16, 32}) {
            Scene scene(head_dim, group, 150, block, static_cast<uint32_t>(head_dim + group));
            const std::vector<float> expected = scene.Run(AttentionReference, 0, 150, window);
            const std::vector<float> out = scene.Run(Attention, 0, 150, window);
            double largest = 0;
            for (const float value : expected)
              largest = std::max(largest, std::abs(static_cast<double>(value)));
            for (size_t i = 0; i < out.size(); ++i) {
              ASSERT_TRUE(Close(out[i], expected[i], kExponential, 20 * largest))
                  << "head_dim " << head_dim << " group " << group << " window " << window << ": " << out[i]
                  << " vs " << expected[i];
            }
          }
        }
      }
    }
  }
}

TEST(Attention, CallsCutAnywhereGiveTheSameBits) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const int64_t window : {0, 128}) {
      Scene scene(32, 3, 200, 16);
      const std::vector<float> whole = scene.Run(Attention, 0, 200, window);
      std::vector<float> cut;
      for (int64_t start = 0, size = 1; start < 200; start += size, size = size % 23 + 3) {
        const std::vector<float> part = scene.Run(Attention, start, std::min(size, 200 - start), window);
        cut.insert(cut.end(), part.begin(), part.end());
      }
      EXPECT_EQ(whole, cut);
    }
  }
}

TEST(Attention, LaterTokensNeverReachAnEarlierRow) {
  Scene scene(32, 2, 40, 16);
  const std::vector<float> before = scene.Run(Attention, 0, 20, 0);
  const std::vector<float> nan(32, std::numeric_limits<float>::quiet_NaN());
  for (int64_t t = 20; t < 40; ++t) {
    StoreKeyValue(scene.Cache(), scene.blocks[static_cast<size_t>(t / 16)], t % 16, nan.data(), nan.data());
  }
  EXPECT_EQ(scene.Run(Attention, 0, 20, 0), before);
}

TEST(Attention, NotANumberInTheQueryIsNotHidden) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    Scene scene(16, 1, 5, 16);
    scene.q[4 * 16] = std::numeric_limits<float>::quiet_NaN();
    for (const float value : scene.Run(Attention, 4, 1, 0)) EXPECT_TRUE(std::isnan(value));
  }
}

}  // namespace
}  // namespace assay::kernels
