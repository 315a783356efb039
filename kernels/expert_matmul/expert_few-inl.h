#pragma once

// For device code: a tile of few rows times MXFP4 columns of an expert, by a block of kFewThreads threads.
#include "kernels/expert_matmul/gate_tile.h"
#include "kernels/gpu/few_rows.h"

namespace assay::kernels::gpu {

constexpr int kAhead = 3;  // groups of blocks whose weights a lane has in flight

// Eight activations of a token in the order of FewTile::Decode.
__device__ inline uint4 PairsOf(const uint4& words) {
  return {(words.x & 0xFFFFu) | words.z << 16, words.x >> 16 | (words.z & 0xFFFF0000u),
          (words.y & 0xFFFFu) | words.w << 16, words.y >> 16 | (words.w & 0xFFFF0000u)};
}

// kFewColumns of an expert from `first` on; those beyond its last count as zeros and are not asked for.
struct FewColumns {
  Mxfp4Weights weights;
  int first;
};

// A lane's block of weights of each of its columns.
struct HeldBlocks {
  uint4 block[FewTile::kLaneColumns];
  uint8_t scale[FewTile::kLaneColumns];
  __device__ void Load(const FewColumns& columns, int block_of_k) {
    const Mxfp4Weights& weights = columns.weights;
#pragma unroll
    for (int i = 0; i < FewTile::kLaneColumns; ++i) {
      const int column = columns.first + FewTile::Column(i), blocks = weights.k / 32;
      const bool there = column < weights.columns && block_of_k < blocks;
      const auto at = static_cast<uint32_t>(column * blocks + block_of_k);  // an expert is below 4 GB
      block[i] = LoadOrZero(there, weights.blocks + at * static_cast<uint32_t>(kMxBlockBytes));
      scale[i] = there ? weights.scales[at] : 0;
    }
  }
};

__device__ inline int BlockOf(int group) {
  return group * FewTile::kBlocks + FewTile::Block();
}
// Of FewTile::kBlocks blocks of k, which teams take in turn.
__device__ inline int GroupsOf(const Mxfp4Weights& weights) {
  return (weights.k / 32 + FewTile::kBlocks - 1) / FewTile::kBlocks;
}
__device__ inline int TeamOfBlock() {
  return static_cast<int>(threadIdx.x) / FewTile::kTeam;
}

// Asks for the weights that MultiplyColumns begins with.
__device__ inline void LoadFirst(const FewColumns& columns, HeldBlocks (&held)[kAhead]) {
#pragma unroll
  for (int i = 0; i < kAhead; ++i) held[i].Load(columns, BlockOf(TeamOfBlock() + i * kFewTeams));
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

// Which columns of an expert a block of threads takes: `first`, `first + step`... below `end`, kFewColumns
// each.
struct ColumnWalk {
  int first, step, end;
};

// The columns of a walk, the first weights of which are held. Those of next_of(column), a FewColumns, are
// asked for meanwhile and are held at the end, but by teams without a group of these k: they hold what they
// did. pairs_of(block of k, chunk, w) gives activations.
template <int kChunks, class Next, class Pairs, class Output>
__device__ void MultiplyColumns(const Mxfp4Weights& weights, const ColumnWalk& walk,
                                HeldBlocks (&held)[kAhead], int rows, const Next& next_of,
                                const Pairs& pairs_of, const Output& output) {
  const int team = TeamOfBlock();
  const int groups = GroupsOf(weights);
  const int chunks = (rows + FewTile::kTokens - 1) / FewTile::kTokens;
  for (int column = walk.first; column < walk.end; column += walk.step) {
    FewTile::Sums sums[kChunks];
    for (int first = team; first < groups; first += kAhead * kFewTeams) {
      const bool last = first + kAhead * kFewTeams >= groups;
      const FewColumns coming = last ? next_of(column) : FewColumns{weights, column};
      const int next = last ? team : first + kAhead * kFewTeams;
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const int group = first + i * kFewTeams;
        if (group < groups) {
          const int block = BlockOf(group);
          AddBlocks(
              held[i], chunks, [&](int chunk, int w) { return pairs_of(block, chunk, w); }, sums);
        }
        held[i].Load(coming, BlockOf(next + i * kFewTeams));
      }
    }
    SumTeams(sums, rows,
             [&](int row, int at, float first, float second) { output(row, column + at, first, second); });
    __syncthreads();  // all have read the sums
  }
}

// The same for the rows of a tile: rows(r) is the place of row r in memory, or nullptr. `staged`
// [kStagedRows, kStagedStride] is shared memory for them; `are_staged`: they lie there from before.
template <class Rows, class Next, class Output>
__device__ void MultiplyRows(const Mxfp4Weights& weights, const ColumnWalk& walk, HeldBlocks (&held)[kAhead],
                             const Rows& rows, int row_count, Bf16* staged, bool are_staged,
                             const Next& next_of, const Output& output) {
  if (Stages(row_count, weights.k)) {
    static_assert(kStagedRows <= FewTile::kTokens && kStagedPad == 32 * FewTile::kBlocks);
    if (!are_staged) StageRows(rows, row_count, weights.k, PairsOf, staged);
    // A token that is not there is another one, and nobody takes its sums.
    const Bf16* from = staged + min(FewTile::Token(), row_count - 1) * kStagedStride;
    MultiplyColumns<1>(
        weights, walk, held, row_count, next_of,
        [&](int block, int, int w) { return *reinterpret_cast<const uint4*>(from + block * 32 + 8 * w); },
        output);
    return;
  }
  const Bf16* row_from[kFewChunks];
#pragma unroll
  for (int chunk = 0; chunk < kFewChunks; ++chunk)
    row_from[chunk] = rows(chunk * FewTile::kTokens + FewTile::Token());
  MultiplyColumns<kFewChunks>(
      weights, walk, held, row_count, next_of,
      [&](int block, int chunk, int w) {
        const bool there = row_from[chunk] != nullptr && block * 32 < weights.k;
        return PairsOf(LoadOrZero(there, row_from[chunk] + block * 32 + 8 * w));
      },
      output);
}

}  // namespace assay::kernels::gpu
