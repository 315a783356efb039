#pragma once

// y[r, n] = sum over k of x[r, k] * w[n, k] for FP8 codes x and MXFP4 weights w by gfx950's scaled matrix
// instruction: weights go from memory to the lanes that multiply them as they lie there, scales included, and
// are decoded nowhere. Tiles are those of TileMatmul, and sums run over k in ascending order here too.
#include "kernels/gpu/scaled_lanes.h"
#include "kernels/gpu/tile_matmul.h"

namespace assay::kernels::gpu {

// A wave's product of 16 columns of weights (the instruction's rows) and 16 tokens (its columns).
struct ScaledTile {
  using Words = int __attribute__((ext_vector_type(8)));
  using Sums = float __attribute__((ext_vector_type(4)));

  __device__ static int Lane() { return static_cast<int>(threadIdx.x) % Tile::kTeam; }

  // A lane's block of MXFP4 and its scale, zeros beyond the matrix.
  struct Weights {
    uint4 block;
    uint32_t scale;
    __device__ void Load(const Mxfp4Weights& from, int first_column, int first_k) {
      const int column = first_column + scaled::LineOf(Lane()), blocks = from.k / static_cast<int>(kMxBlock);
      const int block_of_k = first_k / static_cast<int>(kMxBlock) + scaled::BlockOf(Lane());
      const bool there = column < from.columns && block_of_k < blocks;
      const int64_t at = static_cast<int64_t>(column) * blocks + block_of_k;
      block = LoadOrZero(there, from.blocks + at * kMxBlockBytes);
      scale = there ? from.scales[at] : 0;
    }
  };
  // A lane's FP8 of its token, from shared memory, [16 tokens][128], `stride` bytes from token to token.
  __device__ static Words LoadTokens(const uint8_t* from, int stride) {
    const uint8_t* token = from + scaled::LineOf(Lane()) * stride;
    const auto piece = [&](int half) {
      return *reinterpret_cast<const uint4*>(token + scaled::PieceOf(Lane(), half) * scaled::kPieceBytes);
    };
    return WordsOf(piece(0), piece(1));
  }
  __device__ static void Add(const Weights& weights, const Words& tokens, Sums& sums) {
    constexpr int kFp8 = 0, kFp4 = 4;  // E4M3 of OCP, E2M1
    int one = 127;  // 2^0 as E8M0. A scale is a vector register; LLVM 20 would make this a scalar one
    asm("" : "+v"(one));
    const Words words = WordsOf(weights.block, {0, 0, 0, 0});  // FP4 needs half of them
    sums = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(words, tokens, sums, kFp4, kFp8, 0,
                                                            static_cast<int>(weights.scale), 0, one);
  }
  // take(token, even column, sum, sum of the next column).
  template <class Take>
  __device__ static void ForEachPair(const Sums& sums, const Take& take) {
#pragma unroll
    for (int i = 0; i < 4; i += 2)
      take(scaled::LineOf(Lane()), scaled::RowOfSum(Lane(), i), sums[i], sums[i + 1]);
  }

 private:
  __device__ static Words WordsOf(const uint4& low, const uint4& high) {
    const auto word = [](uint32_t bits) { return static_cast<int>(bits); };
    return {word(low.x),  word(low.y),  word(low.z),  word(low.w),
            word(high.x), word(high.y), word(high.z), word(high.w)};
  }
};

// Eight FP8 codes of bf16, each of which FP8 holds exactly (RoundToE4M3), as bytes.
__device__ inline uint2 Fp8Of(const uint4& codes) {
  using Two = __bf16 __attribute__((ext_vector_type(2)));
  using Bytes = short __attribute__((ext_vector_type(2)));
  const auto four = [](uint32_t low, uint32_t high) {
    Bytes bytes = {0, 0};
    bytes = __builtin_amdgcn_cvt_scalef32_pk_fp8_bf16(bytes, __builtin_bit_cast(Two, low), 1.0f, false);
    bytes = __builtin_amdgcn_cvt_scalef32_pk_fp8_bf16(bytes, __builtin_bit_cast(Two, high), 1.0f, true);
    return __builtin_bit_cast(uint32_t, bytes);
  };
  return {four(codes.x, codes.y), four(codes.z, codes.w)};
}

// As TileMatmul; `rows` give codes as bf16.
template <int kRows, class Rows, class Take>
__device__ void ScaledMatmul(const Rows& rows, const Mxfp4Weights& weights, int first_column,
                             const Take& take) {
  constexpr int kTeams = kMatmulThreads / Tile::kTeam;
  constexpr int kTeamRows = kRows >= 64 ? 2 : 1;  // of teams
  constexpr int kTeamColumns = kTeams / kTeamRows;
  constexpr int kM = kRows / 16 / kTeamRows, kN = kTileColumns / 16 / kTeamColumns;  // tiles of a team
  constexpr int kPieces = scaled::kK / 8;                                            // of a row
  constexpr int kHeldRows = kRows * kPieces / kMatmulThreads;
  static_assert(kHeldRows * kMatmulThreads == kRows * kPieces && kMatmulThreads % kPieces == 0);
  constexpr int kStride = scaled::kK + scaled::kPieceBytes;  // rows begin in different banks
  __shared__ __align__(16) uint8_t row_tile[kRows * kStride];

  const int team = static_cast<int>(threadIdx.x) / Tile::kTeam;
  const int team_row = team / kTeamColumns * kM * 16, team_column = team % kTeamColumns * kN * 16;
  const int first_row = static_cast<int>(threadIdx.x) / kPieces,
            piece = static_cast<int>(threadIdx.x) % kPieces;
  constexpr int kRowStep = kMatmulThreads / kPieces;
  const Bf16* row_from[kHeldRows];
#pragma unroll
  for (int i = 0; i < kHeldRows; ++i) row_from[i] = rows(first_row + i * kRowStep);
  uint4 held_rows[kHeldRows];
  ScaledTile::Weights held[kN];
  const auto load = [&](int first_k) {
    const int at = first_k + piece * 8;
#pragma unroll
    for (int i = 0; i < kHeldRows; ++i)
      held_rows[i] = LoadOrZero(row_from[i] != nullptr && at < weights.k, row_from[i] + at);
#pragma unroll
    for (int n = 0; n < kN; ++n) held[n].Load(weights, first_column + team_column + n * 16, first_k);
  };

  ScaledTile::Sums sums[kM][kN] = {};
  load(0);
  for (int first_k = 0; first_k < weights.k; first_k += scaled::kK) {
#pragma unroll
    for (int i = 0; i < kHeldRows; ++i) {
      *reinterpret_cast<uint2*>(row_tile + (first_row + i * kRowStep) * kStride + piece * 8) =
          Fp8Of(held_rows[i]);
    }
    ScaledTile::Weights columns[kN];
#pragma unroll
    for (int n = 0; n < kN; ++n) columns[n] = held[n];
    __syncthreads();
    if (first_k + scaled::kK < weights.k) load(first_k + scaled::kK);
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      const ScaledTile::Words tokens =
          ScaledTile::LoadTokens(row_tile + (team_row + m * 16) * kStride, kStride);
#pragma unroll
      for (int n = 0; n < kN; ++n) ScaledTile::Add(columns[n], tokens, sums[m][n]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < kM; ++m) {
#pragma unroll
    for (int n = 0; n < kN; ++n) {
      ScaledTile::ForEachPair(sums[m][n], [&](int token, int column, float first, float second) {
        take(team_row + m * 16 + token, first_column + team_column + n * 16 + column, first, second);
      });
    }
  }
}

}  // namespace assay::kernels::gpu
