#include "kernels/routing/routing_gpu.h"

#include "kernels/gpu/gpu_test_support.h"
#include "kernels/routing/invariants.h"
#include "kernels/routing/top_k.h"

namespace assay::kernels::gpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

// A routing computed on the device, and everything that came out.
struct OnDevice {
  TopKShape shape;
  int64_t block;
  std::vector<int32_t> ids;
  std::vector<float> weights;
  Bitmatrix matrix;
  RoutingMetadata metadata;
  std::vector<int32_t> schedule;

  RoutingResult Result() const {
    return {shape.tokens, shape.experts, shape.k, ids, weights, &matrix, &metadata};
  }
};

enum class Launches { kOne, kParts };
// In parts; `bits`: instead of those that the device packs, a fault for the invariants to find.
OnDevice Route(const TopKShape& shape, const std::vector<float>& logits,
               const std::vector<int32_t>& positions, int64_t block, Launches launches = Launches::kParts,
               const std::vector<uint32_t>* bits = nullptr) {
  const Stream stream;
  const int64_t gates = shape.tokens * shape.k, words = (shape.experts + 31) / 32;
  const auto device_logits = Input(stream, logits);
  const auto device_positions = Input(stream, positions);
  const auto ids = Unwritten<int32_t>(stream, gates), col_sum = Unwritten<int32_t>(stream, shape.experts);
  const auto weights = Unwritten<float>(stream, gates);
  const auto packed = Unwritten<uint32_t>(stream, shape.tokens * words);
  const auto offsets = Unwritten<int32_t>(stream, shape.experts + 1);
  const auto col_sorted = Unwritten<int32_t>(stream, gates), row_sorted = Unwritten<int32_t>(stream, gates);
  const auto schedule = Unwritten<int32_t>(stream, MaxTiles(gates, shape.experts, block));
  for (const auto* buffer : {&col_sorted, &row_sorted, &schedule}) {
    stream.Fill(buffer->data(), 0x7F, buffer->bytes());  // large integers, as freed memory may have
  }
  const Routing routing{
      shape.tokens,   shape.experts,     shape.k,           device_logits.data(), device_positions.data(),
      block,          ids.data(),        weights.data(),    packed.data(),        col_sum.data(),
      offsets.data(), col_sorted.data(), row_sorted.data(), schedule.data(),      nullptr,
      nullptr};
  if (launches == Launches::kOne) {
    assay::kernels::gpu::Route(stream.handle(), routing);
  } else {
    TopK(stream.handle(), routing);
    PackBitmatrix(stream.handle(), routing);
    if (bits != nullptr) stream.CopyToDevice(packed.data(), bits->data(), packed.bytes());
    GroupGates(stream.handle(), routing);
  }
  OnDevice out{shape,
               block,
               ToHost(stream, ids),
               ToHost(stream, weights),
               {shape.tokens, shape.experts, words, ToHost(stream, packed)},
               {},
               ToHost(stream, schedule)};
  out.metadata = {ToHost(stream, col_sum), ToHost(stream, offsets), ToHost(stream, col_sorted),
                  ToHost(stream, row_sorted)};
  return out;
}

struct PaddingCase {
  const char* name;
  bool masked;
  std::vector<float> poison;  // repeated over the last rows' logits
};
const PaddingCase kPadding[] = {
    {"none", false, {}},
    {"masked +inf", true, {kInf}},
    {"masked NaN", true, {kNan}},
    {"masked mix", true, {kInf, kNan, -kNan, -kInf}},
    {"zero logits", false, {0}},
    {"unmasked -inf", false, {-kInf}},
    {"unmasked NaN", false, {kNan, -kNan}},
    {"unmasked mix", false, {-kInf, -kInf, kInf, kNan, -kNan, 1, -kInf}},
};

// What the host makes of the same logits.
void ExpectAsOnTheHost(const OnDevice& routing, const std::vector<float>& logits,
                       const std::vector<uint8_t>& is_padding, const std::string& where) {
  std::vector<int32_t> ids(routing.ids.size());
  std::vector<float> weights(ids.size());
  TopKReference(routing.shape, logits.data(), is_padding, ids.data(), weights.data());
  EXPECT_EQ(routing.ids, ids) << where;
  for (size_t i = 0; i < ids.size(); ++i)
    ASSERT_TRUE(Close(routing.weights[i], weights[i], kDeviceExponential)) << where << " gate " << i;
  const Bitmatrix matrix =
      assay::kernels::PackBitmatrix(ids, routing.shape.tokens, routing.shape.k, routing.shape.experts);
  EXPECT_EQ(routing.matrix.bits, matrix.bits) << where;
  const RoutingMetadata metadata = MakeRoutingMetadata(ids, routing.shape.k, matrix);
  EXPECT_EQ(routing.metadata.col_sum, metadata.col_sum) << where;
  EXPECT_EQ(routing.metadata.expert_offsets, metadata.expert_offsets) << where;
  EXPECT_EQ(routing.metadata.col_sorted, metadata.col_sorted) << where;
  EXPECT_EQ(routing.metadata.row_sorted, metadata.row_sorted) << where;
  EXPECT_EQ(routing.schedule,
            BlockSchedule(metadata.col_sum, static_cast<int64_t>(ids.size()), routing.block))
      << where;
}

TEST(RoutingGpu, IsTheHostsAndKeepsTheInvariantsForEveryShapeAndPadding) {
  TestData data(1);
  for (const int64_t experts : {4, 31, 32, 33, 64, 127, 128}) {
    for (const int64_t k : {1, 2, 4}) {
      for (const int64_t tokens : {1, 8, 33, 300}) {
        for (const PaddingCase& padding : kPadding) {
          std::vector<float> logits = data.Values(tokens * experts);
          if (data.Below(3) == 0) {  // many ties
            for (float& logit : logits) logit = std::round(logit);
          }
          std::vector<int32_t> positions(static_cast<size_t>(tokens), 0);
          std::vector<uint8_t> is_padding(positions.size(), 0);
          const int64_t padded = std::min<int64_t>(tokens, 1 + data.Below(5));
          for (int64_t t = tokens - padded; t < tokens && !padding.poison.empty(); ++t) {
            for (int64_t e = 0; e < experts; ++e) {
              logits[static_cast<size_t>(t * experts + e)] =
                  padding.poison[static_cast<size_t>(e) % padding.poison.size()];
            }
            positions[static_cast<size_t>(t)] = padding.masked ? -1 : 0;
            is_padding[static_cast<size_t>(t)] = padding.masked;
          }
          const int64_t block = std::vector<int64_t>{16, 64, 128}[static_cast<size_t>(data.Below(3))];
          for (const Launches launches : {Launches::kOne, Launches::kParts}) {
            const OnDevice routing = Route({tokens, experts, k}, logits, positions, block, launches);
            const std::string where = std::string(padding.name) + ", experts " + std::to_string(experts) +
                                      " k " + std::to_string(k) + " tokens " + std::to_string(tokens);
            EXPECT_EQ(RoutingViolations(routing.Result()), std::vector<std::string>()) << where;
            EXPECT_EQ(ScheduleViolations(routing.metadata.col_sum, block, routing.schedule),
                      std::vector<std::string>())
                << where;
            ExpectAsOnTheHost(routing, logits, is_padding, where);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST(RoutingGpu, TheInvariantsCatchCDivisionInTheBits) {
  TestData data(9);
  for (const int64_t experts : {32, 128}) {
    const TopKShape shape{20, experts, 4};
    std::vector<float> logits = data.Values(20 * experts);
    for (int64_t t = 0; t < 20; ++t)
      logits[static_cast<size_t>(t * experts + 31)] = -1000;  // nobody chooses 31
    const std::vector<int32_t> positions(20, 0);
    const OnDevice sound = Route(shape, logits, positions, 16);
    EXPECT_TRUE(RoutingViolations(sound.Result()).empty());
    // Lanes beyond k hold -1, -1 / 32 is 0, and 1 << (-1 & 31) is expert 31.
    std::vector<uint32_t> bits = sound.matrix.bits;
    for (int64_t t = 0; t < 20; ++t) bits[static_cast<size_t>(t * (experts / 32))] |= 0x80000000u;
    const OnDevice faulty = Route(shape, logits, positions, 16, Launches::kParts, &bits);
    EXPECT_EQ(faulty.metadata.col_sum[31], 20);
    const std::vector<std::string> violations = RoutingViolations(faulty.Result());
    ASSERT_FALSE(violations.empty());
    EXPECT_EQ(violations[0], "row 0: 5 bits for 4 experts");
  }
}

}  // namespace
}  // namespace assay::kernels::gpu
