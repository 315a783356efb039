#pragma once

#include "kernels/attention/attention_gpu.h"

namespace assay::kernels::gpu {

// Rows [first, first + count) of one sequence, at positions that follow each other.
struct RowTile {
  int32_t first, count;
};
// So many rows of a tile attend together, for `group` query heads of a key-value head.
int64_t AttentionTileRows(int64_t group);
// Whether there are tiles for this size of head.
bool AttentionHasTiles(int64_t head_dim);

// Attention of prompts by matrix instructions: the rows of each tile read a key once. Weights of values are
// rounded to bf16 before they meet the values. `splits` and `partial` of the batch are not used.
void AttentionOfTiles(void* stream, const AttentionBatch& batch, const RowTile* tiles, int64_t count);

}  // namespace assay::kernels::gpu
