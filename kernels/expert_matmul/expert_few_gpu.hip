#include <algorithm>

#include "kernels/expert_matmul/expert_few-inl.h"
#include "kernels/expert_matmul/expert_few_gpu.h"
#include "kernels/routing/metadata.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kLargestScale = 128;   // that FewTile::Decode knows
constexpr int64_t kAtOnce = 400;     // blocks of threads that a large device holds
constexpr int64_t kMostRepeats = 4;  // kFewColumns that a block of threads takes one after the other

// The product of a tile of gates; `rows_of(tile)` gives its rows and `output_of(tile)` takes sums as
// GatedOutput does. Weights are asked for before anything is known of the rows, and those of the next columns
// of a block of threads while it multiplies: it is they that take long. kOldSchedule: it is not the kernel
// before that wrote the schedule.
template <bool kOldSchedule, class RowsOf, class OutputOf>
__device__ void MultiplyFew(const ExpertMatrix& matrix, const ExpertBatch& batch, const RowsOf& rows_of,
                            const OutputOf& output_of) {
  if (!kOldSchedule) AwaitEarlier();
  const int32_t scheduled = LoadFresh(batch.schedule + blockIdx.y);
  if (scheduled < 0) {
    if (kOldSchedule) AwaitEarlier();
    return;
  }
  const Mxfp4Weights weights = Mxfp4Of::Weights(matrix, scheduled & 0xFFFF);
  const ColumnWalk walk{static_cast<int>(blockIdx.x) * kFewColumns, static_cast<int>(gridDim.x) * kFewColumns,
                        weights.columns};
  HeldBlocks held[kAhead];
  LoadFirst({weights, walk.first}, held);
  const int bias_column =
      (static_cast<int>(threadIdx.x * gridDim.x) + static_cast<int>(blockIdx.x)) * kFewColumns;
  if (threadIdx.x < kMostRepeats && bias_column < weights.columns)
    Prefetch(matrix.bias + (scheduled & 0xFFFF) * matrix.columns + bias_column);
  if (kOldSchedule) AwaitEarlier();

  __shared__ __align__(16) Bf16 staged[kStagedRows * kStagedStride];
  const GateTile tile(batch, kFewRows, static_cast<int>(blockIdx.y));
  const auto rows = rows_of(tile);
  const auto output = output_of(tile);
  const int row_count = tile.end - tile.first;
  if (row_count <= 0) return;  // counts that disagree with the gates
  MultiplyRows(
      weights, walk, held, rows, row_count, staged, false,
      [&](int column) {
        return FewColumns{weights, column + walk.step};
      },
      output);
}

// Grid (columns / kFewColumns over repeats, tiles of the schedule).
__global__ void __launch_bounds__(kFewThreads, 3)
    GateUpFew(ExpertLayer layer, ExpertBatch batch, const Bf16* x, Bf16* a, bool fp8) {
  MultiplyFew<false>(
      layer.gate_up, batch, [&](const GateTile& tile) { return TokenRowsOf(layer.gate_up, batch, tile, x); },
      [&](const GateTile& tile) {
        return GatedOutput{layer, tile, a, fp8};
      });
}

__global__ void __launch_bounds__(kFewThreads, 3)
    DownFew(ExpertLayer layer, ExpertBatch batch, const Bf16* a, float* out) {
  MultiplyFew<true>(
      layer.down, batch, [&](const GateTile& tile) { return GatedRowsOf(layer.down, tile, a); },
      [&](const GateTile& tile) {
        return DownOutput{layer.down, tile, out};
      });
}

dim3 Grid(const ExpertMatrix& matrix, const ExpertBatch& batch) {
  const int64_t tiles = MaxTiles(batch.tokens * batch.k, batch.experts, batch.block);
  const int64_t columns = Blocks(matrix.columns, kFewColumns);
  const int64_t repeats = std::clamp<int64_t>(Blocks(columns * tiles, kAtOnce), 1, kMostRepeats);
  return {Blocks(columns, repeats), static_cast<unsigned>(tiles)};
}

}  // namespace

bool FewRowsFit(const ExpertLayer& layer, const ExpertBatch& batch) {
  return layer.gate_up.bf16 == nullptr && batch.block == kFewRows &&
         std::max(layer.gate_up.largest_scale, layer.down.largest_scale) <= kLargestScale;
}

void ExpertGateUpFew(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* x, Bf16* a,
                     bool fp8) {
  ASSAY_LAUNCH("expert gate_up, few rows", GateUpFew, Grid(layer.gate_up, batch), kFewThreads, stream, layer,
               batch, x, a, fp8);
}

void ExpertDownFew(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* a,
                   float* out) {
  ASSAY_LAUNCH("expert down, few rows", DownFew, Grid(layer.down, batch), kFewThreads, stream, layer, batch,
               a, out);
}

}  // namespace assay::kernels::gpu
