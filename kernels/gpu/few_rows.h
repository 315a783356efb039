#pragma once

// Products of at most 16 rows, where weights are read once and it is their arrival that takes the time: a
// block of threads has 16 columns, its teams share k, and each lane asks for all its weights before it uses
// the first.
#include "kernels/gpu/tile.h"

namespace assay::kernels::gpu {

constexpr int kFewRows = 16;
constexpr int kFewThreads = 256;
constexpr int kFewTeams = kFewThreads / FewTile::kTeam;
constexpr int kFewChunks = kFewRows / FewTile::kTokens;  // of rows that an instruction takes
constexpr int kFewColumns = FewTile::kColumns;

// One of four, of an index that is known when compiled.
__device__ inline uint32_t WordOf(const uint4& words, int i) {
  return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

// Rows that lanes would fetch piece by piece, each time waiting, are fetched at once by the whole block where
// there are very few of them.
constexpr int kStagedRows = FewTile::kStagedRows;
constexpr int kStagedK = 4096;
constexpr int kStagedStride = kStagedK + 8;  // rows begin in different banks
__device__ inline bool Stages(int rows, int k) {
  return rows <= kStagedRows && k <= kStagedK;
}
constexpr int kStagedPad = 128;  // of k, the last of which become zeros
static_assert(kStagedK % kStagedPad == 0);
// rows(r) is row r's place in memory or nullptr, which becomes zeros; order(uint4) puts eight numbers as they
// will be read. `staged` [kStagedRows, kStagedStride].
template <class Rows, class Order>
__device__ void StageRows(const Rows& rows, int count, int k, const Order& order, Bf16* staged) {
  const int pieces = (k + kStagedPad - 1) / kStagedPad * (kStagedPad / 8);
  for (int i = threadIdx.x; i < count * pieces; i += kFewThreads) {
    const int row = i / pieces, piece = i % pieces;
    const Bf16* from = rows(row);
    *reinterpret_cast<uint4*>(staged + row * kStagedStride + piece * 8) =
        order(LoadOrZero(from != nullptr && piece * 8 < k, from + piece * 8));
  }
  __syncthreads();
}

// What the teams of a block hold, to be added up: one array, whoever takes the sums.
template <int kChunks>
using PartialSums = float[kFewTeams][kChunks * FewTile::kTokens][kFewColumns + 1];
template <int kChunks>
__device__ inline PartialSums<kChunks>& SharedPartialSums() {
  __shared__ PartialSums<kChunks> partial;
  return partial;
}

// Adds up what the teams of a block hold, in the order of teams: take(row, column, sum, sum of the next
// column), columns counted from the block's first, even; each by one thread.
template <int kChunks, class Take>
__device__ void SumTeams(const FewTile::Sums (&sums)[kChunks], int rows, const Take& take) {
  static_assert(kFewRows * kFewColumns <= 2 * kFewThreads);
  PartialSums<kChunks>& partial = SharedPartialSums<kChunks>();
  const int team = static_cast<int>(threadIdx.x) / FewTile::kTeam;
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    FewTile::ForEach(sums[chunk], [&](int column, int token, float sum) {
      partial[team][chunk * FewTile::kTokens + token][column] = sum;
    });
  }
  __syncthreads();
  const int row = static_cast<int>(threadIdx.x) / (kFewColumns / 2);
  const int column = static_cast<int>(threadIdx.x) % (kFewColumns / 2) * 2;
  if (row >= rows) return;
  float first = 0, second = 0;
#pragma unroll
  for (int t = 0; t < kFewTeams; ++t) {
    first += partial[t][row][column];
    second += partial[t][row][column + 1];
  }
  take(row, column, first, second);
}

}  // namespace assay::kernels::gpu
