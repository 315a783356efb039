// Random checkpoints in every layout against logits and greedy tokens that Hugging Face's own implementation
// computed in float64 (tools/golden).
#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"
#include "engine/model/golden_test_support.h"

namespace assay::engine {
namespace {

// FP8 has three mantissa bits: where a number lies near the middle of two codes, the last bits of a sum
// decide between numbers 1/16 apart. That is a jump, not an error of arithmetic. So with FP8 the claims are
// close only about short prompts, which were chosen without such a number, and otherwise about most
// positions.
struct Layout {
  const char* name;
  WeightLayout layout;
  bool fp8;
};
constexpr Layout kLayouts[] = {{"mxfp4", WeightLayout::kMxfp4, false},
                               {"bf16", WeightLayout::kBf16, false},
                               {"quark", WeightLayout::kQuark, false},
                               {"quark_fp8", WeightLayout::kQuarkFp8, true},
                               {"quark_fp8_kv", WeightLayout::kQuarkFp8Kv, true}};
constexpr size_t kLongestExact = 9;
constexpr double kJumps = 0.1;  // what some codes that differ make of a logit, relative to the largest

// As tools/golden/make_golden.py asks make-model for it.
RandomCheckpoint CheckpointOf(const Layout& layout) {
  RandomCheckpoint checkpoint;
  checkpoint.shape = {256, 64, 96, 4, 4, 2, 16, 8, 4, 128, 131072};
  checkpoint.layout = layout.layout;
  checkpoint.seed = 20261130;
  return checkpoint;
}

Path FixtureOf(const Layout& layout) {
  return Path(ASSAY_SOURCE_DIR) / fmt::format("engine/model/testdata/golden_{}.safetensors", layout.name);
}

// How many of the greedy tokens the model would have chosen too, given those before.
int SameChoices(Model& model, const Golden& golden) {
  Running request(golden.prompt, 0, 32);
  int same = 0;
  for (const int32_t token : golden.greedy) {
    same += Largest(Prefill(model, request)) == token;
    request.tokens.push_back(token);
  }
  return same;
}

class GoldenLayouts : public ::testing::TestWithParam<Layout> {
 protected:
  std::unique_ptr<Model> Load(MoeBackend backend) const {
    ModelOptions options;
    options.moe_backend = backend;
    options.num_blocks = 64;
    return checkpoint_.Load(options);
  }

  RandomModel checkpoint_{CheckpointOf(GetParam())};
  std::vector<Golden> golden_ = LoadGoldenFile(FixtureOf(GetParam()));
};

TEST_P(GoldenLayouts, TheCheckpointIsTheOneOfTheFixture) {
  const auto file = MappedFile::Open(FixtureOf(GetParam()));
  ASSERT_TRUE(file);
  const auto tensors = ParseSafetensors(file->bytes(), "fixture");
  ASSERT_TRUE(tensors);
  std::string digest;
  for (const uint8_t byte : tensors->at("weights_sha256").As<uint8_t>())
    digest += fmt::format("{:02x}", byte);
  EXPECT_EQ(*Sha256File(checkpoint_.folder / "model.safetensors"), digest);
}

TEST_P(GoldenLayouts, ReferenceLogitsAreWithinOneInTenThousand) {
  const auto model = Load(MoeBackend::kReference);
  for (const Golden& golden : golden_) {
    const bool exact = !GetParam().fp8 || golden.prompt.size() <= kLongestExact;
    EXPECT_LT(LogitError(*model, golden), exact ? 1e-4 : kJumps) << golden.prompt.size();
  }
}

TEST_P(GoldenLayouts, FastLogitsAreWithinTheirTolerance) {
  const auto model = Load(MoeBackend::kGrouped);
  std::vector<double> errors;
  for (const Golden& golden : golden_) {
    for (const double error : LogitErrors(*model, golden)) errors.push_back(error);
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors.back(), GetParam().fp8 ? kJumps : 1e-3);
  EXPECT_LT(errors[errors.size() / 2], GetParam().fp8 ? 0.02 : 1e-3);
}

TEST_P(GoldenLayouts, BothBackendsChooseTheSame64GreedyTokens) {
  for (const MoeBackend backend : {MoeBackend::kReference, MoeBackend::kGrouped}) {
    const auto model = Load(backend);
    for (const Golden& golden : golden_) {
      ASSERT_EQ(golden.greedy.size(), 64u);
      if (GetParam().fp8) {
        EXPECT_GE(SameChoices(*model, golden), backend == MoeBackend::kReference ? 60 : 48)
            << golden.prompt.size();
      } else {
        EXPECT_EQ(Greedy(*model, golden), golden.greedy) << golden.prompt.size();
      }
    }
  }
}

TEST_P(GoldenLayouts, ChunksAndThreadsDoNotChangeABit) {
  const std::vector<int32_t>& prompt = golden_.back().prompt;
  const auto logits = [&](int threads, int64_t chunk) {
    ModelOptions options;
    options.threads = threads;
    options.num_blocks = 64;
    const auto model = checkpoint_.Load(options);
    Running request(prompt, 0, 32);
    return Prefill(*model, request, chunk);
  };
  const std::vector<float> whole = logits(1, 512);
  EXPECT_EQ(logits(1, 7), whole);
  EXPECT_EQ(logits(3, 64), whole);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenLayouts, ::testing::ValuesIn(kLayouts),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace assay::engine
