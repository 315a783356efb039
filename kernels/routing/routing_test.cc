#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "kernels/routing/invariants.h"
#include "kernels/routing/metadata.h"
#include "kernels/routing/top_k.h"
#include "kernels/test_data.h"

namespace assay::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

// How the rows beyond the real ones look to a router.
enum class Mask { kNone, kNegativeIds, kZeroLogits };

struct Routing {
  TopKShape shape;
  std::vector<float> logits, weights;
  std::vector<int32_t> ids;
  Bitmatrix matrix;
  RoutingMetadata metadata;
  RoutingResult Result() const {
    return {shape.tokens, shape.experts, shape.k, ids, weights, &matrix, &metadata};
  }
};

Routing Route(const TopKShape& shape, std::vector<float> logits, const std::vector<uint8_t>& padding) {
  Routing routing{shape, std::move(logits), {}, {}, {}, {}};
  routing.ids.resize(static_cast<size_t>(shape.tokens * shape.k), 77777);
  routing.weights.resize(routing.ids.size(), 1e9f);
  TopK(shape, routing.logits.data(), padding, routing.ids.data(), routing.weights.data());
  routing.matrix = PackBitmatrix(routing.ids, shape.tokens, shape.k, shape.experts);
  routing.metadata = MakeRoutingMetadata(routing.ids, shape.k, routing.matrix);
  return routing;
}

struct PaddingCase {
  const char* name;
  Mask mask;
  std::vector<float> poison;  // repeated over the padding rows' logits
};
const PaddingCase kPadding[] = {
    {"none", Mask::kNone, {}},
    {"ids -1 over +inf", Mask::kNegativeIds, {kInf}},
    {"ids -1 over NaN", Mask::kNegativeIds, {kNan}},
    {"ids -1 over a mix", Mask::kNegativeIds, {kInf, kNan, -kNan, -kInf}},
    {"zero logits", Mask::kZeroLogits, {0}},
    {"unmasked -inf", Mask::kNone, {-kInf}},
    {"unmasked NaN", Mask::kNone, {kNan, -kNan}},
    {"unmasked mix", Mask::kNone, {-kInf, -kInf, kInf, kNan, -kNan, 1, -kInf}},
};

Routing RandomRouting(TestData& data, const TopKShape& shape, int64_t padded, const PaddingCase& padding) {
  std::vector<float> logits = data.Values(shape.tokens * shape.experts);
  if (data.Below(3) == 0) {  // many ties
    for (float& logit : logits) logit = std::round(logit);
  }
  std::vector<uint8_t> is_padding(static_cast<size_t>(shape.tokens), 0);
  for (int64_t t = shape.tokens - padded; t < shape.tokens && !padding.poison.empty(); ++t) {
    for (int64_t e = 0; e < shape.experts; ++e) {
      logits[static_cast<size_t>(t * shape.experts + e)] =
          padding.poison[static_cast<size_t>(e) % padding.poison.size()];
    }
    is_padding[static_cast<size_t>(t)] = padding.mask == Mask::kNegativeIds;
  }
  return Route(shape, std::move(logits), is_padding);
}

TEST(Routing, InvariantsHoldForEveryShapeAndPadding) {
  TestData data(1);
  for (const int64_t experts : {4, 5, 31, 32, 33, 50, 64, 96, 127, 128}) {
    for (const int64_t k : {1, 2, 4}) {
      for (const int64_t tokens : {1, 2, 8, 31, 32, 33, 100}) {
        for (const PaddingCase& padding : kPadding) {
          const int64_t padded = std::min<int64_t>(tokens, 1 + data.Below(5));
          const Routing routing = RandomRouting(data, {tokens, experts, k}, padded, padding);
          EXPECT_EQ(RoutingViolations(routing.Result()), std::vector<std::string>())
              << "experts " << experts << " k " << k << " tokens " << tokens << " padding " << padding.name;
          for (int64_t t = 0; t < tokens * k; ++t) {  // 9: every id in range, or -1 where masked
            EXPECT_LT(routing.ids[static_cast<size_t>(t)], experts);
            EXPECT_GE(routing.ids[static_cast<size_t>(t)], padding.mask == Mask::kNegativeIds ? -1 : 0);
          }
          for (const int64_t block : {16, 32, 64, 128}) {  // 8
            EXPECT_EQ(ScheduleViolations(routing.metadata.col_sum, block,
                                         BlockSchedule(routing.metadata.col_sum, tokens * k, block)),
                      std::vector<std::string>());
          }
        }
      }
    }
  }
}

TEST(Routing, PaddingContentDoesNotReachRealRows) {
  TestData data(2);
  for (const int64_t experts : {4, 32, 64, 128}) {
    const TopKShape shape{8, experts, 4};
    std::vector<float> logits = data.Values(8 * experts);
    std::vector<uint8_t> is_padding(8, 0);
    is_padding[7] = 1;
    const Routing clean = Route(shape, logits, is_padding);
    for (const float poison : {kInf, -kInf, kNan, -kNan, 0.0f, 1e30f}) {
      std::fill_n(logits.end() - experts, experts, poison);
      const Routing poisoned = Route(shape, logits, is_padding);
      EXPECT_EQ(poisoned.ids, clean.ids);
      EXPECT_EQ(poisoned.weights, clean.weights);
      EXPECT_EQ(poisoned.metadata.col_sorted, clean.metadata.col_sorted);
      EXPECT_EQ(poisoned.metadata.expert_offsets, clean.metadata.expert_offsets);
    }
  }
}

TEST(Routing, AllTokensToOneExpert) {
  std::vector<float> logits(100 * 32, 0.0f);
  for (size_t t = 0; t < 100; ++t) logits[t * 32 + 31] = 5;
  const Routing routing = Route({100, 32, 1}, logits, {});
  EXPECT_EQ(RoutingViolations(routing.Result()), std::vector<std::string>());
  EXPECT_EQ(routing.metadata.col_sum[31], 100);
}

TEST(Routing, EverySlotOfAnotherRank) {
  std::vector<int32_t> ids(12, -1);
  const std::vector<float> weights(12, 0.25f);
  const Bitmatrix matrix = PackBitmatrix(ids, 3, 4, 32);
  const RoutingMetadata metadata = MakeRoutingMetadata(ids, 4, matrix);
  EXPECT_EQ(RoutingViolations({3, 32, 4, ids, weights, &matrix, &metadata}), std::vector<std::string>());
  EXPECT_EQ(metadata.expert_offsets[32], 0);
}

TEST(Routing, GroupByExpertIsTheSameMetadata) {
  TestData data(3);
  for (const PaddingCase& padding : kPadding) {
    const Routing routing = RandomRouting(data, {50, 32, 4}, 3, padding);
    RoutingMetadata direct;
    GroupByExpert(routing.ids, 32, direct);
    EXPECT_EQ(direct.col_sum, routing.metadata.col_sum);
    EXPECT_EQ(direct.expert_offsets, routing.metadata.expert_offsets);
    EXPECT_EQ(direct.col_sorted, routing.metadata.col_sorted);
    EXPECT_EQ(direct.row_sorted, routing.metadata.row_sorted);
  }
}

// --- top-k ---

TEST(TopK, MatchesTheReference) {
  TestData data(4);
  for (const int64_t experts : {4, 32, 33, 128}) {
    for (const PaddingCase& padding : kPadding) {
      const Routing routing = RandomRouting(data, {40, experts, 4}, 5, padding);
      std::vector<uint8_t> is_padding(40, 0);
      if (padding.mask == Mask::kNegativeIds) std::fill_n(is_padding.end() - 5, 5, 1);
      std::vector<int32_t> ids(routing.ids.size());
      std::vector<float> weights(ids.size());
      TopKReference({40, experts, 4}, routing.logits.data(), is_padding, ids.data(), weights.data());
      EXPECT_EQ(routing.ids, ids) << padding.name;
      for (size_t i = 0; i < ids.size(); ++i) {
        if (std::isnan(weights[i])) {
          EXPECT_TRUE(std::isnan(routing.weights[i])) << padding.name;
        } else {
          EXPECT_NEAR(routing.weights[i], weights[i], 1e-6) << padding.name;
        }
      }
    }
  }
}

struct OrderCase {
  const char* name;
  std::vector<float> logits;  // of 6 experts; k = 2
  std::vector<int32_t> ids;
};
const OrderCase kOrder[] = {
    {"largest two, ids ascending", {0, 3, 1, 5, 2, 4}, {3, 5}},
    {"ties go to the lower id", {1, 1, 1, 1, 1, 1}, {0, 1}},
    {"negative zero ties with zero", {-0.0f, -1, 0.0f, 0.0f, -1, -1}, {0, 2}},
    {"NaN of either sign is lowest", {kNan, -kNan, -5, kNan, -6, -kNan}, {2, 4}},
    {"-inf beats NaN", {kNan, kNan, kNan, kNan, -kInf, 1}, {4, 5}},
    {"all NaN", {kNan, kNan, kNan, kNan, kNan, kNan}, {0, 1}},
    {"all -inf", {-kInf, -kInf, -kInf, -kInf, -kInf, -kInf}, {0, 1}},
    {"+inf first", {1, 2, kInf, 3, kNan, -kInf}, {2, 3}},
};

TEST(TopK, OrderIsTotal) {
  for (const OrderCase& c : kOrder) {
    std::vector<int32_t> ids(2);
    std::vector<float> weights(2);
    TopK({1, 6, 2}, c.logits.data(), {}, ids.data(), weights.data());
    EXPECT_EQ(ids, c.ids) << c.name;
    TopKReference({1, 6, 2}, c.logits.data(), {}, ids.data(), weights.data());
    EXPECT_EQ(ids, c.ids) << c.name << " (reference)";
  }
}

TEST(TopK, WeightsAreTheSoftmaxOfTheChosen) {
  const std::vector<float> logits = {std::log(1.0f), std::log(3.0f), -100, std::log(4.0f)};
  std::vector<int32_t> ids(3);
  std::vector<float> weights(3);
  TopK({1, 4, 3}, logits.data(), {}, ids.data(), weights.data());
  EXPECT_EQ(ids, (std::vector<int32_t>{0, 1, 3}));
  EXPECT_NEAR(weights[0], 1.0 / 8, 1e-6);
  EXPECT_NEAR(weights[1], 3.0 / 8, 1e-6);
  EXPECT_NEAR(weights[2], 4.0 / 8, 1e-6);
}

// --- bits and places ---

TEST(Bitmatrix, WorkedExampleOf128Experts) {
  const Bitmatrix matrix = PackBitmatrix(std::vector<int32_t>{3, 17, 40, 95, 3, 5, 31, 127}, 2, 4, 128);
  EXPECT_EQ(matrix.bits,
            (std::vector<uint32_t>{0x00020008, 0x00000100, 0x80000000, 0, 0x80000028, 0, 0, 0x80000000}));
}

// The fault of C division on a GPU: the lanes beyond k hold -1, -1 / 32 is 0 and 1 << (-1 & 31) is expert 31.
Bitmatrix PackWithCDivision(std::span<const int32_t> ids, int64_t tokens, int64_t k, int64_t experts) {
  Bitmatrix matrix{tokens, experts, (experts + 31) / 32, {}};
  matrix.bits.assign(static_cast<size_t>(tokens * matrix.words), 0);
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t lane = 0; lane < 32; ++lane) {
      const int32_t id = lane < k ? ids[static_cast<size_t>(t * k + lane)] : -1;
      matrix.bits[static_cast<size_t>(t * matrix.words + id / 32)] |=
          1u << (static_cast<uint32_t>(id % 32) & 31u);
    }
  }
  return matrix;
}

TEST(Bitmatrix, TheInvariantsCatchCDivision) {
  const std::vector<int32_t> ids{3, 17, 40, 95, 3, 5, 31, 127};
  const std::vector<float> weights(8, 0.25f);
  const Bitmatrix faulty = PackWithCDivision(ids, 2, 4, 128);
  EXPECT_EQ(faulty.bits[0], 0x80020008u) << "expert 31 invented in row 0";
  EXPECT_EQ(faulty.bits[4], 0x80000028u) << "row 1 did choose 31";
  const RoutingMetadata metadata = MakeRoutingMetadata(ids, 4, faulty);
  EXPECT_EQ(metadata.col_sum[31], 2);
  EXPECT_EQ(metadata.expert_offsets[128], 9) << "one more than there are gates";
  const std::vector<std::string> violations =
      RoutingViolations({2, 128, 4, ids, weights, &faulty, &metadata});
  EXPECT_GE(violations.size(), 3u);
  EXPECT_EQ(violations[0], "row 0: 5 bits for 4 experts");

  const Bitmatrix sound = PackBitmatrix(ids, 2, 4, 128);
  const RoutingMetadata good = MakeRoutingMetadata(ids, 4, sound);
  EXPECT_TRUE(RoutingViolations({2, 128, 4, ids, weights, &sound, &good}).empty());
}

TEST(Bitmatrix, TheInvariantsCatchCDivisionOn32Experts) {
  TestData data(9);
  const TopKShape shape{20, 32, 4};
  std::vector<float> logits = data.Values(20 * 32);
  for (size_t t = 0; t < 20; ++t) logits[t * 32 + 31] = -1000;  // nobody chooses the last expert
  const Routing routing = Route(shape, logits, {});
  const Bitmatrix faulty = PackWithCDivision(routing.ids, 20, 4, 32);
  const RoutingMetadata metadata = MakeRoutingMetadata(routing.ids, 4, faulty);
  EXPECT_EQ(metadata.col_sum[31], 20);
  EXPECT_FALSE(RoutingViolations({20, 32, 4, routing.ids, routing.weights, &faulty, &metadata}).empty());
}

TEST(RoutingMetadata, WorkedExample) {
  // rows 0010110, 0100010, 1110001, 0010100 of 7 experts
  const std::vector<int32_t> ids{2, 4, 5, -1, 1, 5, -1, -1, 0, 1, 2, 6, 2, 4, -1, -1};
  const Bitmatrix matrix = PackBitmatrix(ids, 4, 4, 7);
  const RoutingMetadata metadata = MakeRoutingMetadata(ids, 4, matrix);
  EXPECT_EQ(metadata.col_sum, (std::vector<int32_t>{1, 2, 3, 0, 2, 2, 1}));
  EXPECT_EQ(metadata.expert_offsets, (std::vector<int32_t>{0, 1, 3, 6, 6, 8, 10, 11}));
  EXPECT_EQ(metadata.col_sorted,
            (std::vector<int32_t>{8, 4, 9, 0, 10, 12, 1, 13, 2, 5, 11, -1, -1, -1, -1, -1}));
  EXPECT_EQ(metadata.row_sorted,
            (std::vector<int32_t>{3, 6, 8, -1, 1, 9, -1, -1, 0, 2, 4, 10, 5, 7, -1, -1}));
}

TEST(BlockSchedule, LengthIsTheCeilForm) {
  EXPECT_EQ(MaxTiles(4, 32, 16), 4);  // fewer gates than experts
  EXPECT_EQ(MaxTiles(32, 32, 16), 32);
  EXPECT_EQ(MaxTiles(33, 32, 16), 32);  // 31 + ceil(2 / 16)
  EXPECT_EQ(MaxTiles(48, 32, 16), 33);  // 31 + ceil(17 / 16): one expert with 17 rows
  EXPECT_EQ(MaxTiles(2048, 128, 16), 248);
}

TEST(BlockSchedule, WorkedExample) {
  const std::vector<int32_t> col_sum{0, 17, 1};
  EXPECT_EQ(BlockOffsets(col_sum, 16), (std::vector<int32_t>{0, 0, 2, 3}));
  EXPECT_EQ(BlockSchedule(col_sum, 18, 16), (std::vector<int32_t>{1, 1 << 16 | 1, 2}));
}

}  // namespace
}  // namespace assay::kernels
