#include <algorithm>

#include "kernels/expert_matmul/expert_few_gpu.h"
#include "kernels/expert_matmul/gate_tile.h"
#include "kernels/gpu/few_rows.h"
#include "kernels/routing/metadata.h"
#include "kernels/swiglu/swiglu_gpu.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kAhead = 3;            // groups of blocks whose weights a lane has in flight
constexpr int kLargestScale = 128;   // that FewTile::Decode knows
constexpr int64_t kAtOnce = 400;     // blocks of threads that a large device holds
constexpr int64_t kMostRepeats = 4;  // kFewColumns that a block of threads takes one after the other

// Eight activations of a token in the order of FewTile::Decode.
__device__ uint4 PairsOf(const uint4& words) {
  return {(words.x & 0xFFFFu) | words.z << 16, words.x >> 16 | (words.z & 0xFFFF0000u),
          (words.y & 0xFFFFu) | words.w << 16, words.y >> 16 | (words.w & 0xFFFF0000u)};
}

// A lane's block of weights of each of its columns.
struct HeldBlocks {
  uint4 block[FewTile::kLaneColumns];
  uint8_t scale[FewTile::kLaneColumns];
  __device__ void Load(const Mxfp4Weights& weights, int first_column, int block_of_k) {
#pragma unroll
    for (int i = 0; i < FewTile::kLaneColumns; ++i) {
      const int column = first_column + FewTile::Column(i), blocks = weights.k / 32;
      const bool there = column < weights.columns && block_of_k < blocks;
      const auto at = static_cast<uint32_t>(column * blocks + block_of_k);  // an expert is below 4 GB
      block[i] = LoadOrZero(there, weights.blocks + at * static_cast<uint32_t>(kMxBlockBytes));
      scale[i] = there ? weights.scales[at] : 0;
    }
  }
};

__device__ int BlockOf(int group) {
  return group * FewTile::kBlocks + FewTile::Block();
}

// sums[chunk] += the products of 32 k; pairs_of(chunk, w) gives eight of the lane's token.
template <int kChunks, class Pairs>
__device__ void AddBlocks(const HeldBlocks& held, int chunks, const Pairs& pairs_of,
                          FewTile::Sums (&sums)[kChunks]) {
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    uint32_t pairs[FewTile::kLaneColumns][4];
#pragma unroll
    for (int i = 0; i < FewTile::kLaneColumns; ++i)
      FewTile::Decode(WordOf(held.block[i], w), held.scale[i], pairs[i]);
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      if (kChunks > 1 && chunk >= chunks) break;
      const uint4 tokens = pairs_of(chunk, w);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        uint32_t weights[FewTile::kLaneColumns][2];
#pragma unroll
        for (int i = 0; i < FewTile::kLaneColumns; ++i) {
          weights[i][0] = pairs[i][2 * half];
          weights[i][1] = pairs[i][2 * half + 1];
        }
        const uint32_t four[2] = {WordOf(tokens, 2 * half), WordOf(tokens, 2 * half + 1)};
        FewTile::Add(weights, four, sums[chunk]);
      }
    }
  }
}

// The columns of a block of threads, whose first weights it holds; pairs_of(block of k, chunk, w) gives
// activations.
template <int kChunks, class Pairs, class Output>
__device__ void MultiplyColumns(const Mxfp4Weights& weights, HeldBlocks (&held)[kAhead], int rows,
                                const Pairs& pairs_of, const Output& output) {
  const int team = static_cast<int>(threadIdx.x) / FewTile::kTeam;
  const int groups = (weights.k / 32 + FewTile::kBlocks - 1) / FewTile::kBlocks;
  const int chunks = (rows + FewTile::kTokens - 1) / FewTile::kTokens;
  const int a_round = static_cast<int>(gridDim.x) * kFewColumns;
  for (int column = static_cast<int>(blockIdx.x) * kFewColumns; column < weights.columns; column += a_round) {
    FewTile::Sums sums[kChunks];
    for (int first = team; first < groups; first += kAhead * kFewTeams) {
      const bool last = first + kAhead * kFewTeams >= groups;
      const int next_column = last ? column + a_round : column;
      const int next = last ? team : first + kAhead * kFewTeams;
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const int group = first + i * kFewTeams;
        if (group < groups) {
          const int block = BlockOf(group);
          AddBlocks(
              held[i], chunks, [&](int chunk, int w) { return pairs_of(block, chunk, w); }, sums);
        }
        held[i].Load(weights, next_column, BlockOf(next + i * kFewTeams));
      }
    }
    SumTeams(sums, rows,
             [&](int row, int at, float first, float second) { output(row, column + at, first, second); });
    __syncthreads();  // all have read the sums
  }
}

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
  const int team = static_cast<int>(threadIdx.x) / FewTile::kTeam;
  HeldBlocks held[kAhead];
#pragma unroll
  for (int i = 0; i < kAhead; ++i)
    held[i].Load(weights, static_cast<int>(blockIdx.x) * kFewColumns, BlockOf(team + i * kFewTeams));
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
  if (Stages(row_count, weights.k)) {
    static_assert(kStagedRows <= FewTile::kTokens && kStagedPad == 32 * FewTile::kBlocks);
    StageRows(rows, row_count, weights.k, PairsOf, staged);
    // A token that is not there is another one, and nobody takes its sums.
    const Bf16* from = staged + min(FewTile::Token(), row_count - 1) * kStagedStride;
    MultiplyColumns<1>(
        weights, held, row_count,
        [&](int block, int, int w) { return *reinterpret_cast<const uint4*>(from + block * 32 + 8 * w); },
        output);
    return;
  }
  const Bf16* row_from[kFewChunks];
#pragma unroll
  for (int chunk = 0; chunk < kFewChunks; ++chunk)
    row_from[chunk] = rows(chunk * FewTile::kTokens + FewTile::Token());
  MultiplyColumns<kFewChunks>(
      weights, held, row_count,
      [&](int block, int chunk, int w) {
        const bool there = row_from[chunk] != nullptr && block * 32 < weights.k;
        return PairsOf(LoadOrZero(there, row_from[chunk] + block * 32 + 8 * w));
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
