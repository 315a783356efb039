#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/model/model.h"
#include "engine/model/random_checkpoint.h"
#include "testing/temp_dir.h"

namespace assay::engine {

// A folder with a small random checkpoint.
struct RandomModel {
  testing::TempDir folder;
  explicit RandomModel(const CheckpointShape& shape = {}, uint64_t seed = 1, int64_t shards = 1)
      : RandomModel(RandomCheckpoint{shape, WeightLayout::kMxfp4, seed, shards, {}}) {}
  explicit RandomModel(const RandomCheckpoint& checkpoint) {
    const Status status = WriteRandomCheckpoint(folder.path(), checkpoint);
    EXPECT_TRUE(status) << status.error().message;
  }
  std::unique_ptr<Model> Load(const ModelOptions& options) const { return LoadFrom(folder.path(), options); }
  static std::unique_ptr<Model> LoadFrom(const Path& path, const ModelOptions& options) {
    Result<std::unique_ptr<Model>> model = Model::Load(path, options);
    EXPECT_TRUE(model) << model.error().message;
    return model ? std::move(*model) : nullptr;
  }
};

// One request that is being computed, with its own run of KV blocks.
struct Running {
  std::vector<int32_t> tokens;
  std::vector<int32_t> blocks;
  int64_t done = 0;

  Running(std::vector<int32_t> prompt, int32_t first_block, int32_t count) : tokens(std::move(prompt)) {
    for (int32_t i = count - 1; i >= 0; --i) blocks.push_back(first_block + i);
  }
  Sequence Next(int64_t count, bool want_logits) const {
    return {std::span(tokens).subspan(static_cast<size_t>(done), static_cast<size_t>(count)), done, blocks,
            want_logits};
  }
};

// The logits of the request's last token, computed in chunks of at most `chunk`.
inline std::vector<float> Prefill(Model& model, Running& request, int64_t chunk = 1 << 20) {
  std::vector<float> logits;
  const auto total = static_cast<int64_t>(request.tokens.size());
  while (request.done < total) {
    const int64_t count = std::min(chunk, total - request.done);
    const Sequence sequence = request.Next(count, request.done + count == total);
    model.Forward({&sequence, 1}, count, logits);
    request.done += count;
  }
  return logits;
}

inline int32_t Largest(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace assay::engine
