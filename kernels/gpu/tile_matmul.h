#pragma once

// y[r, n] = sum over k of x[r, k] * w[n, k], a tile of rows and kTileColumns columns by one block of threads.
// Every sum runs over k in ascending order, so a row's result does not depend on the rows beside it.
#include "kernels/gpu/mxfp4_decode.h"
#include "kernels/gpu/tile.h"
#include "kernels/mxfp4/mxfp4.h"

namespace assay::kernels::gpu {

constexpr int kMatmulThreads = 256;
constexpr int kTileColumns = 128;
constexpr int kTileK = 64;
constexpr int kTileStride = kTileK + 8;  // of a row in shared memory: rows begin in different banks

// Weights of bf16, [columns, k].
struct Bf16Weights {
  const Bf16* weights;
  int columns, k;  // k is a multiple of 8

  static constexpr int kPieces = kTileColumns * kTileK / 8 / kMatmulThreads;
  struct Held {
    uint4 piece[kPieces];
  };
  __device__ void Load(int first_column, int first_k, Held& held) const {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const int piece = static_cast<int>(threadIdx.x) + i * kMatmulThreads;
      const int column = first_column + piece / (kTileK / 8), at = first_k + piece % (kTileK / 8) * 8;
      held.piece[i] = LoadOrZero(column < columns && at < k, weights + static_cast<int64_t>(column) * k + at);
    }
  }
  __device__ void Store(const Held& held, Bf16* tile) const {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const int piece = static_cast<int>(threadIdx.x) + i * kMatmulThreads;
      *reinterpret_cast<uint4*>(tile + piece / (kTileK / 8) * kTileStride + piece % (kTileK / 8) * 8) =
          held.piece[i];
    }
  }
};

// Weights of MXFP4, [columns, k / 32] blocks and scales; k is a multiple of 32.
struct Mxfp4Weights {
  const uint8_t* blocks;
  const uint8_t* scales;
  int columns, k;

  static_assert(kTileColumns * kTileK / kMxBlock == kMatmulThreads);
  static constexpr int kBlocks = kTileK / static_cast<int>(kMxBlock);
  struct Held {
    uint4 block;
    uint8_t scale;
  };
  __device__ void Load(int first_column, int first_k, Held& held) const {
    const int column = first_column + static_cast<int>(threadIdx.x) / kBlocks;
    const int at = first_k + static_cast<int>(threadIdx.x) % kBlocks * static_cast<int>(kMxBlock);
    const bool there = column < columns && at < k;
    const int64_t block = (static_cast<int64_t>(column) * k + at) / kMxBlock;
    held.block = LoadOrZero(there, blocks + block * kMxBlockBytes);
    held.scale = there ? scales[block] : 0;
  }
  __device__ void Store(const Held& held, Bf16* tile) const {
    const float scale = ScaleOf(held.scale);
    const uint32_t words[4] = {held.block.x, held.block.y, held.block.z, held.block.w};
    uint4* to =
        reinterpret_cast<uint4*>(tile + static_cast<int>(threadIdx.x) / kBlocks * kTileStride +
                                 static_cast<int>(threadIdx.x) % kBlocks * static_cast<int>(kMxBlock));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      uint32_t pairs[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const uint32_t byte = words[i] >> (8 * j);
        pairs[j] = UpperHalves(DecodeNibble(byte & 15u) * scale, DecodeNibble(byte >> 4 & 15u) * scale);
      }
      to[i] = {pairs[0], pairs[1], pairs[2], pairs[3]};
    }
  }
};

// Rows that follow each other in memory.
struct PlainRows {
  const Bf16* x;
  int first, count, k;
  __device__ const Bf16* operator()(int row) const {
    return first + row < count ? x + static_cast<int64_t>(first + row) * k : nullptr;
  }
};

// Calls take(row of the tile, column, sum, sum of the next column) for what each thread holds; columns are
// even and below the weights' padded to kTileColumns, rows below kRows: the caller passes over what is
// beyond.
template <int kRows, class Rows, class Weights, class Take>
__device__ void TileMatmul(const Rows& rows, const Weights& weights, int first_column, const Take& take) {
  constexpr int kTeams = kMatmulThreads / Tile::kTeam;
  constexpr int kTeamRows = kRows >= 64 ? 2 : 1;  // of teams
  constexpr int kTeamColumns = kTeams / kTeamRows;
  constexpr int kM = kRows / 16 / kTeamRows, kN = kTileColumns / 16 / kTeamColumns;  // tiles of a team
  constexpr int kRowPieces = kRows * kTileK / 8;
  constexpr int kHeldRows = (kRowPieces + kMatmulThreads - 1) / kMatmulThreads;
  __shared__ __align__(16) Bf16 row_tile[kRows * kTileStride];
  __shared__ __align__(16) Bf16 column_tile[kTileColumns * kTileStride];

  const Bf16* row_from[kHeldRows];
#pragma unroll
  for (int i = 0; i < kHeldRows; ++i) {
    const int piece = static_cast<int>(threadIdx.x) + i * kMatmulThreads;
    row_from[i] = piece < kRowPieces ? rows(piece / (kTileK / 8)) : nullptr;
  }
  uint4 held_rows[kHeldRows];
  typename Weights::Held held;
  const auto load = [&](int first_k) {
#pragma unroll
    for (int i = 0; i < kHeldRows; ++i) {
      const int at = first_k + static_cast<int>(threadIdx.x) % (kTileK / 8) * 8;
      held_rows[i] = LoadOrZero(row_from[i] != nullptr && at < weights.k, row_from[i] + at);
    }
    weights.Load(first_column, first_k, held);
  };

  const int team = static_cast<int>(threadIdx.x) / Tile::kTeam;
  const int team_row = team / kTeamColumns * kM * 16, team_column = team % kTeamColumns * kN * 16;
  Tile::Sums sums[kM][kN];
  load(0);
  for (int first_k = 0; first_k < weights.k; first_k += kTileK) {
#pragma unroll
    for (int i = 0; i < kHeldRows; ++i) {
      const int piece = static_cast<int>(threadIdx.x) + i * kMatmulThreads;
      if (piece < kRowPieces) {
        *reinterpret_cast<uint4*>(row_tile + piece / (kTileK / 8) * kTileStride + piece % (kTileK / 8) * 8) =
            held_rows[i];
      }
    }
    weights.Store(held, column_tile);
    __syncthreads();
    if (first_k + kTileK < weights.k) load(first_k + kTileK);
#pragma unroll
    for (int k = 0; k < kTileK; k += 16) {
      Tile::Columns columns[kN];
#pragma unroll
      for (int n = 0; n < kN; ++n)
        columns[n] = Tile::LoadColumns(column_tile + (team_column + n * 16) * kTileStride + k, kTileStride);
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        const Tile::Rows tile = Tile::LoadRows(row_tile + (team_row + m * 16) * kTileStride + k, kTileStride);
#pragma unroll
        for (int n = 0; n < kN; ++n) Tile::Add(tile, columns[n], sums[m][n]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < kM; ++m) {
#pragma unroll
    for (int n = 0; n < kN; ++n) {
      Tile::ForEachPair(sums[m][n], [&](int row, int column, float first, float second) {
        take(team_row + m * 16 + row, first_column + team_column + n * 16 + column, first, second);
      });
    }
  }
}

}  // namespace assay::kernels::gpu
