#include "engine/model/batch_rows.h"

#include <algorithm>

#include "base/check.h"

namespace assay::engine {

int64_t MaxPositions(const ModelConfig& config, const ModelOptions& options) {
  return std::min(config.max_position_embeddings, options.num_blocks * options.block_size);
}

BatchRows LayOutRows(std::span<const Sequence> batch, int64_t padded_rows, const ModelConfig& config,
                     const ModelOptions& options) {
  BatchRows out;
  for (const Sequence& sequence : batch) {
    const auto count = static_cast<int64_t>(sequence.tokens.size());
    const int64_t end = sequence.start + count;
    CHECK_GT(count, 0);
    CHECK_GE(sequence.start, 0);
    CHECK_LE(end, MaxPositions(config, options));
    CHECK_LE((end - 1) / options.block_size, static_cast<int64_t>(sequence.block_table.size()) - 1);
    for (const int32_t block : sequence.block_table) CHECK(block >= 0 && block < options.num_blocks);
    out.parts.push_back({out.rows, count, sequence.start, sequence.block_table});
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
