#pragma once

// The matrix instruction of NVIDIA from sm_80 on: a warp adds a 16 x 16 piece of a product over 16 of k at a
// time.
#include "kernels/gpu/device.h"

namespace assay::kernels::gpu {

struct Tile {
  static constexpr int kTeam = 32;  // threads that hold a tile together

  // 16 rows, and 16 columns, of 16 consecutive k, as bf16 pairs.
  struct Rows {
    uint32_t word[4];
  };
  struct Columns {
    uint32_t word[4];
  };
  // Sums of 16 rows x 16 columns: two instructions' worth, 8 columns each.
  struct Sums {
    float value[2][4] = {};
  };

  // From shared memory, [16 rows][k..], `stride` elements from row to row, 16-byte aligned.
  __device__ static Rows LoadRows(const Bf16* from, int stride) {
    const int lane = Lane();
    Rows rows;
    Load(from + lane % 16 * stride + lane / 16 * 8, rows.word);
    return rows;
  }
  __device__ static Columns LoadColumns(const Bf16* from, int stride) {
    const int lane = Lane();
    Columns columns;
    Load(from + (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 8, columns.word);
    return columns;
  }
  __device__ static void Add(const Rows& a, const Columns& b, Sums& sums) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float* c = sums.value[half];
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};\n"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[2 * half]),
            "r"(b.word[2 * half + 1]));
    }
  }
  // take(row, even column, sum, sum of the next column), of what this thread holds.
  template <class Take>
  __device__ static void ForEachPair(const Sums& sums, const Take& take) {
    const int lane = Lane();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float* c = sums.value[half];
      take(lane / 4, half * 8 + lane % 4 * 2, c[0], c[1]);
      take(lane / 4 + 8, half * 8 + lane % 4 * 2, c[2], c[3]);
    }
  }
  // Each sum times factor(its row).
  template <class Factor>
  __device__ static void ScaleRows(Sums& sums, const Factor& factor) {
    const float upper = factor(Lane() / 4), lower = factor(Lane() / 4 + 8);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      sums.value[half][0] *= upper;
      sums.value[half][1] *= upper;
      sums.value[half][2] *= lower;
      sums.value[half][3] *= lower;
    }
  }

 private:
  __device__ static void Load(const Bf16* from, uint32_t (&word)[4]) {
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(from));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(address));
  }
};

// The same instruction for few rows, turned round: its 16 rows are columns of the weights and its columns are
// tokens, so that weights go from memory straight to the lanes that need them. A lane has four k a step of
// each column and token that are its own, and which k they are is free, as long as both agree: a lane takes
// whole blocks of 32.
struct FewTile {
  static constexpr int kTeam = 32, kColumns = 16, kTokens = 8;
  static constexpr int kLaneColumns = 2;  // whose weights a lane holds
  static constexpr int kBlocks = 4;       // of 32 k, that a team takes at a time: one a lane
  static constexpr int kStagedRows = 4;

  __device__ static int Column(int i) { return Lane() / 4 + 8 * i; }
  __device__ static int Token() { return Lane() / 4; }
  __device__ static int Block() { return Lane() % 4; }

  struct Sums {
    float value[4] = {};
  };
  // Two words are four k.
  __device__ static void Add(const uint32_t (&weights)[kLaneColumns][2], const uint32_t (&x)[2], Sums& sums) {
    float* c = sums.value;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(weights[0][0]), "r"(weights[1][0]), "r"(weights[0][1]), "r"(weights[1][1]), "r"(x[0]),
          "r"(x[1]));
  }
  // take(column, token, sum).
  template <class Take>
  __device__ static void ForEach(const Sums& sums, const Take& take) {
#pragma unroll
    for (int i = 0; i < 4; ++i) take(Lane() / 4 + i / 2 * 8, Lane() % 4 * 2 + i % 2, sums.value[i]);
  }

  // Eight weights of MXFP4, as pairs (0, 4), (1, 5), (2, 6), (3, 7): their signs and magnitudes are 16 bits
  // apart, and the magnitude at the border of exponent and mantissa of a bf16 is the number times 2^-126.
  // 2^126 times the scale is a number of bf16 up to scale 128.
  __device__ static void Decode(uint32_t nibbles, uint8_t scale, uint32_t (&pairs)[4]) {
    const uint32_t bits = (static_cast<uint32_t>(scale) + 126) << 7;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t magnitude = (i == 0   ? nibbles << 6
                                  : i == 1 ? nibbles << 2
                                           : nibbles >> (4 * i - 6)) &
                                 0x01C001C0u;
      const uint32_t sign = (nibbles << (12 - 4 * i)) & 0x80008000u;
      pairs[i] = Multiply(magnitude | sign, bits | bits << 16);
    }
  }

 private:
  __device__ static uint32_t Multiply(uint32_t a, uint32_t b) {
    uint32_t product;
    // a * b + -0: sm_80 has no product alone.
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(product) : "r"(a), "r"(b), "r"(0x80008000u));
    return product;
  }
};

}  // namespace assay::kernels::gpu
