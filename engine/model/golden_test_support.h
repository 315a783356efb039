#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/model/model_test_support.h"
#include "engine/model/safetensors.h"

namespace assay::engine {

// What another implementation computed for one prompt.
struct Golden {
  std::vector<int32_t> prompt, greedy;
  std::vector<float> logits;  // [n, vocab] of the last n positions
};

inline std::vector<int32_t> Tokens(const TensorView& view) {
  const auto ids = view.As<int64_t>();
  return {ids.begin(), ids.end()};
}

inline std::vector<Golden> LoadGoldenFile(const Path& path) {
  std::vector<Golden> all;
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

// The largest |difference| at each of the last positions, relative to the largest |logit| of all.
inline std::vector<double> LogitErrors(Model& model, const Golden& golden) {
  const auto vocab = static_cast<size_t>(model.Config().vocab_size);
  const size_t last = golden.logits.size() / vocab, first = golden.prompt.size() - last;
  Running request({golden.prompt.begin(), golden.prompt.begin() + static_cast<long>(first)}, 0, 32);
  Prefill(model, request);
  std::vector<double> errors(last);
  double largest = 0;

  for (size_t i = 0; i < last; ++i) {
    request.tokens.push_back(golden.prompt[first + i]);
    const std::vector<float> logits = Prefill(model, request);
    for (size_t v = 0; v < vocab; ++v) {
      const double expected = golden.logits[i * vocab + v];
      errors[i] = std::max(errors[i], std::abs(logits[v] - expected));
      largest = std::max(largest, std::abs(expected));
    }
  }
  for (double& error : errors) error /= largest;
  return errors;
}

inline double LogitError(Model& model, const Golden& golden) {
  const std::vector<double> errors = LogitErrors(model, golden);
  return *std::max_element(errors.begin(), errors.end());
}

inline std::vector<int32_t> Greedy(Model& model, const Golden& golden) {
  Running request(golden.prompt, 0, 32);
  std::vector<int32_t> tokens;
  while (tokens.size() < golden.greedy.size()) {
    tokens.push_back(Largest(Prefill(model, request)));
    request.tokens.push_back(tokens.back());
  }
  return tokens;
}

}  // namespace assay::engine
