// The bundled model against logits and greedy tokens that Hugging Face's own implementation computed in
// float32 (tools/tiny_moe).
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/model/golden_test_support.h"

namespace assay::engine {
namespace {

std::vector<Golden> LoadGolden() {
  return LoadGoldenFile(Path(ASSAY_SOURCE_DIR) / "models/tiny-moe/golden.safetensors");
}

std::unique_ptr<Model> TinyMoe(MoeBackend backend, Activations activations = Activations::kBf16Pair,
                               DenseDtype dense = DenseDtype::kBf16) {
  ModelOptions options;
  options.moe_backend = backend;
  options.activations = activations;
  options.dense_dtype = dense;
  options.num_blocks = 64;
  return RandomModel::LoadFrom(Path(ASSAY_SOURCE_DIR) / "models/tiny-moe", options);
}

TEST(Golden, ReferenceLogitsAreWithinOneInTenThousand) {
  const auto model = TinyMoe(MoeBackend::kReference);
  for (const Golden& golden : LoadGolden())
    EXPECT_LT(LogitError(*model, golden), 1e-4) << golden.prompt.size();
}

TEST(Golden, PairsOfBf16KeepLogitsNearFloat32) {
  const auto model = TinyMoe(MoeBackend::kGrouped);
  for (const Golden& golden : LoadGolden())
    EXPECT_LT(LogitError(*model, golden), 1e-3) << golden.prompt.size();
}

// A token whose fourth and fifth expert nearly tie may take the other one under coarser rounding. That is a
// jump, not an error of arithmetic, so the claim is about the typical position.
TEST(Golden, CoarserNumbersKeepTheTypicalPositionWithinTheirTolerance) {
  const struct {
    const char* name;
    Activations activations;
    DenseDtype dense;
  } cases[] = {{"single bf16", Activations::kBf16, DenseDtype::kBf16},
               {"int8 in experts", Activations::kInt8, DenseDtype::kBf16},
               {"int8 everywhere", Activations::kInt8, DenseDtype::kInt8}};
  for (const auto& c : cases) {
    const auto model = TinyMoe(MoeBackend::kGrouped, c.activations, c.dense);
    for (const Golden& golden : LoadGolden()) {
      std::vector<double> errors = LogitErrors(*model, golden);
      std::nth_element(errors.begin(), errors.begin() + static_cast<long>(errors.size() / 2), errors.end());
      EXPECT_LT(errors[errors.size() / 2], 0.025) << c.name << " " << golden.prompt.size();
    }
  }
}

TEST(Golden, TheFastBackendGivesTheSame64GreedyTokens) {
  const auto model = TinyMoe(MoeBackend::kGrouped);
  for (const Golden& golden : LoadGolden())
    EXPECT_EQ(Greedy(*model, golden), golden.greedy) << golden.prompt.size();
}

TEST(Golden, TheReferenceGivesTheSame64GreedyTokens) {
  const auto model = TinyMoe(MoeBackend::kReference);
  const std::vector<Golden> all = LoadGolden();
  for (size_t i = 0; i < std::min<size_t>(all.size(), 2); ++i) {  // it is slow
    EXPECT_EQ(Greedy(*model, all[i]), all[i].greedy) << all[i].prompt.size();
  }
}

}  // namespace
}  // namespace assay::engine
