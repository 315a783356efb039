#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/model/model.h"

namespace assay::engine {

// A batch as rows of the activations: the sequences one after the other, then padding.
struct BatchRows {
  struct Part {
    int64_t first_row, rows, start;
    std::span<const int32_t> full_blocks, sliding_blocks;
    // The table of a layer: position p is in block Blocks(sliding)[p / block_size].
    std::span<const int32_t> Blocks(bool sliding) const { return sliding ? sliding_blocks : full_blocks; }
  };
  int64_t rows = 0, padded_rows = 0;
  std::vector<Part> parts;
  std::vector<int32_t> tokens;      // [rows]
  std::vector<int64_t> positions;   // [rows]
  std::vector<int32_t> part_of;     // [rows]
  std::vector<uint8_t> is_padding;  // [padded_rows]
  std::vector<int64_t> wanted;      // rows whose logits are asked for

  // The KV block of a row's own position in a layer.
  int64_t BlockOf(int64_t row, int64_t block_size, bool sliding) const {
    const auto at = static_cast<size_t>(row);
    return parts[static_cast<size_t>(part_of[at])].Blocks(
        sliding)[static_cast<size_t>(positions[at] / block_size)];
  }
};

// Checks what the caller vouches for: tokens within the vocabulary, positions and blocks within the cache.
BatchRows LayOutRows(std::span<const Sequence> batch, int64_t padded_rows, const ModelConfig& config,
                     const ModelOptions& options);

// Positions that a sequence can have.
int64_t MaxPositions(const ModelConfig& config, const ModelOptions& options);

}  // namespace assay::engine
