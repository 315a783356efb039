// The bundled model against logits and greedy tokens that Hugging Face's own implementation computed in
// float32 (tools/tiny_moe).
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/model/model_test_support.h"
#include "engine/model/safetensors.h"

namespace assay::engine {
namespace {

struct Golden {
  std::vector<int32_t> prompt, greedy;
  std::vector<float> logits;  // [n, vocab] of the last n positions
};

std::vector<int32_t> Tokens(const TensorView& view) {
  const auto ids = view.As<int64_t>();
  return {ids.begin(), ids.end()};
}

std::vector<Golden> LoadGolden() {
  std::vector<Golden> all;
  const Path path = Path(ASSAY_SOURCE_DIR) / "models/tiny-moe/golden.safetensors";
  const Result<MappedFile> file = MappedFile::Open(path);
  EXPECT_TRUE(file) << file.error().message;
  if (!file) return all;
  const auto tensors = ParseSafetensors(file->bytes(), path.string());
  EXPECT_TRUE(tensors) << tensors.error().message;
  for (int i = 0; tensors && tensors->contains("prompt_" + std::to_string(i)); ++i) {
    const std::string index = std::to_string(i);
    const auto logits = tensors->at("logits_" + index).As<float>();
    all.push_back({Tokens(tensors->at("prompt_" + index)),
                   Tokens(tensors->at("greedy_" + index)),
                   {logits.begin(), logits.end()}});
  }
  EXPECT_FALSE(all.empty());
  return all;
}

std::unique_ptr<Model> TinyMoe(MoeBackend backend) {
  ModelOptions options;
  options.moe_backend = backend;
  options.num_blocks = 64;
  return RandomModel::LoadFrom(Path(ASSAY_SOURCE_DIR) / "models/tiny-moe", options);
}

// The largest |difference| over the last positions, relative to the largest |logit|.
double LogitError(Model& model, const Golden& golden) {
  const auto vocab = static_cast<size_t>(model.Config().vocab_size);
  const size_t last = golden.logits.size() / vocab, first = golden.prompt.size() - last;
  Running request({golden.prompt.begin(), golden.prompt.begin() + static_cast<long>(first)}, 0, 32);
  Prefill(model, request);
  double error = 0, largest = 0;
  for (size_t i = 0; i < last; ++i) {
    request.tokens.push_back(golden.prompt[first + i]);
    const std::vector<float> logits = Prefill(model, request);
    for (size_t v = 0; v < vocab; ++v) {
      const double expected = golden.logits[i * vocab + v];
      error = std::max(error, std::abs(logits[v] - expected));
      largest = std::max(largest, std::abs(expected));
    }
  }
  return error / largest;
}

std::vector<int32_t> Greedy(Model& model, const Golden& golden) {
  Running request(golden.prompt, 0, 32);
  std::vector<int32_t> tokens;
  while (tokens.size() < golden.greedy.size()) {
    tokens.push_back(Largest(Prefill(model, request)));
    request.tokens.push_back(tokens.back());
  }
  return tokens;
}

TEST(Golden, ReferenceLogitsAreWithinOneInTenThousand) {
  const auto model = TinyMoe(MoeBackend::kReference);
  for (const Golden& golden : LoadGolden())
    EXPECT_LT(LogitError(*model, golden), 1e-4) << golden.prompt.size();
}

TEST(Golden, FastLogitsAreWithinBf16Tolerance) {
  const auto model = TinyMoe(MoeBackend::kGrouped);
  for (const Golden& golden : LoadGolden())
    EXPECT_LT(LogitError(*model, golden), 0.025) << golden.prompt.size();
}

TEST(Golden, BothBackendsGiveTheSame64GreedyTokens) {
  for (const MoeBackend backend : {MoeBackend::kReference, MoeBackend::kGrouped}) {
    const auto model = TinyMoe(backend);
    for (const Golden& golden : LoadGolden())
      EXPECT_EQ(Greedy(*model, golden), golden.greedy) << golden.prompt.size();
  }
}

}  // namespace
}  // namespace assay::engine
