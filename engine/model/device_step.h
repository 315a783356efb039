#pragma once

#include <span>

#include "engine/model/batch_rows.h"
#include "kernels/attention/attention_tiles_gpu.h"
#include "kernels/gpu/runtime.h"

namespace assay::engine {

// What a forward pass on the device reads of its batch, at addresses that stay, so that a recorded graph can
// be replayed with another batch.
class DeviceStep {
 public:
  DeviceStep(const ModelConfig& config, const ModelOptions& options);

  // Copies to the device; the previous step must be done. Padding rows get token and position -1. `all_rows`:
  // logits are wanted of every row, padding too, as a graph computes them.
  void Set(const kernels::gpu::Stream& stream, const BatchRows& batch, bool all_rows);
  void Poison(const kernels::gpu::Stream& stream);

  const int32_t* Tokens() const { return rows_.data(); }
  const int32_t* Positions() const { return rows_.data() + max_rows_; }
  const int32_t* Wanted() const { return rows_.data() + 3 * max_rows_; }
  kernels::gpu::BlockTables Tables(bool sliding) const {
    return {tables_[sliding].data(), stride_, rows_.data() + 2 * max_rows_};
  }
  // The rows of prompts and of other requests as tiles; empty when no request has enough rows for them to
  // pay.
  std::span<const kernels::gpu::RowTile> Tiles() const {
    return {tiles_.data(), static_cast<size_t>(tile_count_)};
  }
  int64_t Longest() const { return longest_; }  // positions of the longest sequence of the batch

 private:
  void SetTiles(const kernels::gpu::Stream& stream, const BatchRows& batch);

  int64_t max_rows_, max_sequences_, stride_, block_size_, tile_rows_, longest_ = 0, tile_count_ = 0;
  kernels::gpu::PinnedBuffer<int32_t> host_rows_, host_tables_[2];
  kernels::gpu::DeviceBuffer<int32_t> rows_;  // tokens, positions, sequence, wanted: [max rows] each
  kernels::gpu::PinnedBuffer<kernels::gpu::RowTile> host_tiles_;
  kernels::gpu::DeviceBuffer<kernels::gpu::RowTile> tiles_;
  kernels::gpu::DeviceBuffer<int32_t> tables_[2];  // [max sequences, stride]
};

}  // namespace assay::engine
