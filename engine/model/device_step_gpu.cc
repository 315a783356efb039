#include <algorithm>

#include "base/check.h"
#include "engine/model/device_step.h"

namespace assay::engine {
namespace {

constexpr int64_t kEnoughForTiles = 8;  // rows of a request

}  // namespace

DeviceStep::DeviceStep(const ModelConfig& config, const ModelOptions& options)
    : max_rows_(options.max_batch_tokens),
      max_sequences_(std::min(options.max_batch_tokens, options.max_requests)),
      stride_((MaxPositions(config, options) + options.block_size - 1) / options.block_size),
      block_size_(options.block_size),
      tile_rows_(kernels::gpu::AttentionTileRows(config.num_attention_heads / config.num_key_value_heads)),
      host_rows_(4 * max_rows_, "pinned memory for a step"),
      rows_(4 * max_rows_, "the rows of a step"),
      host_tiles_(max_rows_, "pinned memory for a step"),
      tiles_(max_rows_, "the rows of a step") {
  for (const int sliding : {0, 1}) {
    host_tables_[sliding] = {max_sequences_ * stride_, "pinned memory for block tables"};
    tables_[sliding] = {max_sequences_ * stride_, "block tables"};
  }
}

void DeviceStep::Set(const kernels::gpu::Stream& stream, const BatchRows& batch, bool all_rows) {
  const auto sequences = static_cast<int64_t>(batch.parts.size());
  CHECK_LE(sequences, max_sequences_);
  int32_t *tokens = host_rows_.data(), *positions = tokens + max_rows_, *sequence = positions + max_rows_;
  int32_t* wanted = sequence + max_rows_;
  for (int64_t row = 0; row < batch.padded_rows; ++row) {
    const auto at = static_cast<size_t>(row);
    const bool real = row < batch.rows;
    tokens[row] = real ? batch.tokens[at] : -1;
    positions[row] = real ? static_cast<int32_t>(batch.positions[at]) : -1;
    sequence[row] = real ? batch.part_of[at] : 0;
    if (all_rows) wanted[row] = static_cast<int32_t>(row);
  }
  if (!all_rows) {
    std::transform(batch.wanted.begin(), batch.wanted.end(), wanted,
                   [](int64_t row) { return static_cast<int32_t>(row); });
  }
  const size_t pitch = static_cast<size_t>(max_rows_) * sizeof(int32_t);
  stream.CopyRowsToDevice(rows_.data(), pitch, host_rows_.data(), pitch,
                          static_cast<size_t>(batch.padded_rows) * sizeof(int32_t), 4);
  SetTiles(stream, batch);
  longest_ = 0;
  for (const BatchRows::Part& part : batch.parts) longest_ = std::max(longest_, part.start + part.rows);
  const int64_t used = (longest_ + block_size_ - 1) / block_size_;  // blocks of the longest
  for (const int sliding : {0, 1}) {
    for (int64_t s = 0; s < sequences; ++s) {
      const std::span<const int32_t> blocks = batch.parts[static_cast<size_t>(s)].Blocks(sliding == 1);
      const int64_t count = std::min(used, static_cast<int64_t>(blocks.size()));
      std::copy_n(blocks.begin(), count, host_tables_[sliding].data() + s * stride_);
    }
    const size_t table = static_cast<size_t>(stride_) * sizeof(int32_t);
    stream.CopyRowsToDevice(tables_[sliding].data(), table, host_tables_[sliding].data(), table,
                            static_cast<size_t>(used) * sizeof(int32_t), static_cast<size_t>(sequences));
  }
}

void DeviceStep::SetTiles(const kernels::gpu::Stream& stream, const BatchRows& batch) {
  tile_count_ = 0;
  if (std::none_of(batch.parts.begin(), batch.parts.end(),
                   [](const auto& part) { return part.rows >= kEnoughForTiles; }))
    return;
  for (const BatchRows::Part& part : batch.parts) {
    for (int64_t row = 0; row < part.rows; row += tile_rows_) {
      host_tiles_.data()[tile_count_++] = {static_cast<int32_t>(part.first_row + row),
                                           static_cast<int32_t>(std::min(tile_rows_, part.rows - row))};
    }
  }
  stream.CopyToDevice(tiles_.data(), host_tiles_.data(),
                      static_cast<size_t>(tile_count_) * sizeof(kernels::gpu::RowTile));
}

void DeviceStep::Poison(const kernels::gpu::Stream& stream) {
  stream.Fill(rows_.data(), 0x7F, rows_.bytes());  // large integers
  for (const auto& table : tables_) stream.Fill(table.data(), 0x7F, table.bytes());
}

}  // namespace assay::engine
