#include "engine/model/batch_rows.h"

#include <algorithm>

#include "base/check.h"
#include "engine/cache/cache_groups.h"

namespace assay::engine {
namespace {

// `blocks` holds positions [begin, end) within a cache of `num_blocks`.
void CheckTable(std::span<const int32_t> blocks, int64_t begin, int64_t end, int64_t block_size,
                int64_t num_blocks) {
  const int64_t first = begin / block_size, last = (end - 1) / block_size;
  CHECK_LT(last, static_cast<int64_t>(blocks.size()));
  for (int64_t i = first; i <= last; ++i) {
    const int32_t block = blocks[static_cast<size_t>(i)];
    CHECK(block >= 0 && block < num_blocks);
  }
}

}  // namespace

int64_t MaxPositions(const ModelConfig& config, const ModelOptions& options) {
  int64_t positions = config.max_position_embeddings;
  if (options.max_positions > 0) positions = std::min(positions, options.max_positions);
  if (LayersOf(kFullLayers, config) == 0) return positions;
  return std::min(positions, options.num_blocks * options.block_size);
}

BatchRows LayOutRows(std::span<const Sequence> batch, int64_t padded_rows, const ModelConfig& config,
                     const ModelOptions& options) {
  const int64_t sliding_blocks =
      options.num_sliding_blocks > 0 ? options.num_sliding_blocks : options.num_blocks;
  const bool any_full = LayersOf(kFullLayers, config) > 0, any_sliding = LayersOf(kSlidingLayers, config) > 0;
  BatchRows out;
  for (const Sequence& sequence : batch) {
    const auto count = static_cast<int64_t>(sequence.tokens.size());
    const int64_t end = sequence.start + count;
    CHECK_GT(count, 0);
    CHECK_GE(sequence.start, 0);
    CHECK_LE(end, MaxPositions(config, options));
    const auto sliding =
        sequence.sliding_block_table.empty() ? sequence.block_table : sequence.sliding_block_table;
    if (any_full) CheckTable(sequence.block_table, 0, end, options.block_size, options.num_blocks);
    if (any_sliding) {
      CheckTable(sliding, WindowBegin(sequence.start, config.sliding_window), end, options.block_size,
                 sliding_blocks);
    }
    out.parts.push_back({out.rows, count, sequence.start, sequence.block_table, sliding});
    for (int64_t i = 0; i < count; ++i) {
      const int32_t token = sequence.tokens[static_cast<size_t>(i)];
      CHECK(token >= 0 && token < config.vocab_size);
      out.tokens.push_back(token);
      out.positions.push_back(sequence.start + i);
      out.part_of.push_back(static_cast<int32_t>(out.parts.size()) - 1);
    }
    out.rows += count;
    if (sequence.want_logits) out.wanted.push_back(out.rows - 1);
  }
  out.padded_rows = padded_rows;
  CHECK_LE(out.rows, padded_rows);
  CHECK_LE(padded_rows, options.max_batch_tokens);
  out.is_padding.assign(static_cast<size_t>(padded_rows), 0);
  std::fill(out.is_padding.begin() + out.rows, out.is_padding.end(), 1);
  return out;
}

}  // namespace assay::engine
