#pragma once

// The matrix instruction of AMD from gfx90a on: a wave of 64 adds a 16 x 16 piece of a product over 16 of k
// at a time.
#include "kernels/gpu/mxfp4_decode.h"

namespace assay::kernels::gpu {

struct Tile {
  static constexpr int kTeam = 64;  // threads that hold a tile together

  using Four = short __attribute__((ext_vector_type(4)));
  using FourSums = float __attribute__((ext_vector_type(4)));

  // 16 rows, and 16 columns, of 16 consecutive k: a lane has four k of one of them.
  struct Rows {
    Four k;
  };
  using Columns = Rows;
  // Sums of 16 rows x 16 columns: a lane has four rows of one column.
  struct Sums {
    FourSums value = {0, 0, 0, 0};
  };

  // From shared memory, [16 rows][k..], `stride` elements from row to row, 8-byte aligned.
  __device__ static Rows LoadRows(const Bf16* from, int stride) {
    const int lane = static_cast<int>(threadIdx.x) % kTeam;
    return {*reinterpret_cast<const Four*>(from + lane % 16 * stride + lane / 16 * 4)};
  }
  __device__ static Columns LoadColumns(const Bf16* from, int stride) { return LoadRows(from, stride); }
  __device__ static void Add(const Rows& a, const Columns& b, Sums& sums) {
    sums.value = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a.k, b.k, sums.value, 0, 0, 0);
  }
  // take(row, even column, sum, sum of the next column), of what this thread and its neighbour hold.
  template <class Take>
  __device__ static void ForEachPair(const Sums& sums, const Take& take) {
    const int lane = static_cast<int>(threadIdx.x) % kTeam, column = lane % 16, row = lane / 16 * 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float other = ShuffleXor(sums.value[i], 1);
      // Lanes of even columns take the first two rows, their neighbours the others.
      if (i / 2 != column % 2) continue;
      if (column % 2 == 0) {
        take(row + i, column, sums.value[i], other);
      } else {
        take(row + i, column - 1, other, sums.value[i]);
      }
    }
  }
  // Each sum times factor(its row).
  template <class Factor>
  __device__ static void ScaleRows(Sums& sums, const Factor& factor) {
    const int row = static_cast<int>(threadIdx.x) % kTeam / 16 * 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) sums.value[i] *= factor(row + i);
  }
};

// The same instruction for few rows, turned round: its 16 rows are columns of the weights and its columns are
// tokens, so that weights go from memory straight to the lanes that need them. A lane has four k a step of
// its column and its token, and which k they are is free, as long as both agree: a lane takes whole blocks
// of 32.
struct FewTile {
  static constexpr int kTeam = 64, kColumns = 16, kTokens = 16;
  static constexpr int kLaneColumns = 1;  // whose weights a lane holds
  static constexpr int kBlocks = 4;       // of 32 k, that a team takes at a time: one a lane
  static constexpr int kStagedRows = 2;   // so that three blocks of threads share the 64 KB of a compute unit

  __device__ static int Column(int) { return static_cast<int>(threadIdx.x) % 16; }
  __device__ static int Token() { return static_cast<int>(threadIdx.x) % 16; }
  __device__ static int Block() { return static_cast<int>(threadIdx.x) % kTeam / 16; }

  using Sums = Tile::Sums;
  // Two words are four k.
  __device__ static void Add(const uint32_t (&weights)[kLaneColumns][2], const uint32_t (&x)[2], Sums& sums) {
    sums.value = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(Words(weights[0]), Words(x), sums.value, 0, 0, 0);
  }
  // take(column, token, sum).
  template <class Take>
  __device__ static void ForEach(const Sums& sums, const Take& take) {
#pragma unroll
    for (int i = 0; i < 4; ++i) take(Block() * 4 + i, Token(), sums.value[i]);
  }

  // Eight weights of MXFP4, as pairs (0, 4), (1, 5), (2, 6), (3, 7).
  __device__ static void Decode(uint32_t nibbles, uint8_t scale, uint32_t (&pairs)[4]) {
    const float factor = ScaleOf(scale);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      pairs[i] = UpperHalves(DecodeNibble(nibbles >> (4 * i) & 15u) * factor,
                             DecodeNibble(nibbles >> (4 * i + 16) & 15u) * factor);
    }
  }

 private:
  __device__ static Tile::Four Words(const uint32_t (&words)[2]) {
    return __builtin_bit_cast(Tile::Four, static_cast<uint64_t>(words[1]) << 32 | words[0]);
  }
};

}  // namespace assay::kernels::gpu
