#include "kernels/dense_matmul/dense_output.h"
#include "kernels/gpu/few_rows.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kAhead = 4;      // groups of k whose weights a lane has in flight
constexpr int kGroup = 4 * 8;  // of k that a team takes at a time: eight a lane
static_assert(FewTile::kBlocks == 4);

__device__ uint32_t WordOf(const uint4& words, int i) {
  return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

// sums[chunk] += eight k of a lane.
__device__ void AddEight(const uint4 (&held)[FewTile::kLaneColumns], const uint4 (&x)[kFewChunks], int chunks,
                         FewTile::Sums (&sums)[kFewChunks]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    uint32_t weights[FewTile::kLaneColumns][2];
#pragma unroll
    for (int i = 0; i < FewTile::kLaneColumns; ++i) {
      weights[i][0] = WordOf(held[i], 2 * half);
      weights[i][1] = WordOf(held[i], 2 * half + 1);
    }
#pragma unroll
    for (int chunk = 0; chunk < kFewChunks; ++chunk) {
      if (chunk >= chunks) break;
      const uint32_t four[2] = {WordOf(x[chunk], 2 * half), WordOf(x[chunk], 2 * half + 1)};
      FewTile::Add(weights, four, sums[chunk]);
    }
  }
}

// What a lane holds of the weights of kAhead groups.
struct HeldWeights {
  uint4 eight[kAhead][FewTile::kLaneColumns];
  __device__ void Load(const DenseMatmul& in, int first_column, int first_group) {
    const int k = static_cast<int>(in.k);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int at = (first_group + i * kFewTeams) * kGroup + FewTile::Block() * 8;
#pragma unroll
      for (int c = 0; c < FewTile::kLaneColumns; ++c) {
        const int column = first_column + FewTile::Column(c);
        eight[i][c] =
            LoadOrZero(column < in.columns && at < k, in.weights + static_cast<int64_t>(column) * k + at);
      }
    }
  }
};

// Brings near what Load will ask for after its first groups.
__device__ void PrefetchRest(const DenseMatmul& in, int first_column) {
  constexpr int kLine = 64, kGroups = kFewThreads / kLanes;
  const int k = static_cast<int>(in.k), begin = kAhead * kFewTeams * kGroup;
  const int lines = (k - begin + kLine - 1) / kLine;
  if (lines <= 0) return;
  for (int column = GroupOfLanes(); column < kFewColumns; column += kGroups) {
    if (first_column + column >= in.columns) return;
    const Bf16* from = in.weights + static_cast<int64_t>(first_column + column) * k + begin;
    for (int i = Lane(); i < lines; i += kLanes) Prefetch(from + i * kLine);
  }
}

// Grid: columns / kFewColumns.
__global__ void __launch_bounds__(kFewThreads, 3) DenseFew(DenseMatmul in) {
  __shared__ __align__(16) Bf16 staged[kStagedRows * kStagedStride];
  const int k = static_cast<int>(in.k), groups = (k + kGroup - 1) / kGroup, rows = static_cast<int>(in.rows);
  const int first_column = static_cast<int>(blockIdx.x) * kFewColumns;
  const int team = static_cast<int>(threadIdx.x) / FewTile::kTeam;
  const int chunks = (rows + FewTile::kTokens - 1) / FewTile::kTokens;
  PrefetchRest(in, first_column);
  HeldWeights held;
  held.Load(in, first_column, team);
  AwaitEarlier();
  const auto row_at = [&](int row) { return in.x + static_cast<int64_t>(row) * k; };
  const bool stages = Stages(rows, k);
  if (stages)
    StageRows(
        row_at, rows, k, [](const uint4& eight) { return eight; }, staged);

  FewTile::Sums sums[kFewChunks];
  for (int first = team; first < groups; first += kAhead * kFewTeams) {
    if (first != team) held.Load(in, first_column, first);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int at = (first + i * kFewTeams) * kGroup + FewTile::Block() * 8;
      if (first + i * kFewTeams >= groups) break;
      uint4 x[kFewChunks];
#pragma unroll
      for (int chunk = 0; chunk < kFewChunks; ++chunk) {
        const int row = chunk * FewTile::kTokens + FewTile::Token();
        const Bf16* from = stages ? staged + row * kStagedStride : row_at(row);
        x[chunk] = LoadOrZero(row < rows && at < k, from + at);
      }
      AddEight(held.eight[i], x, chunks, sums);
    }
  }
  SumTeams(sums, rows, [&](int row, int column, float first, float second) {
    StoreDense(in, row, first_column + column, first, second);
  });
}

class FewRowsBackend final : public DenseBackend {
 public:
  explicit FewRowsBackend(std::unique_ptr<DenseBackend> otherwise) : otherwise_(std::move(otherwise)) {}
  void Multiply(void* stream, const DenseMatmul& product) override {
    if (product.rows > kFewRows) return otherwise_->Multiply(stream, product);
    ASSAY_LAUNCH("dense_matmul, few rows", DenseFew, dim3(Blocks(product.columns, kFewColumns)), kFewThreads,
                 stream, product);
  }

 private:
  std::unique_ptr<DenseBackend> otherwise_;
};

}  // namespace

std::unique_ptr<DenseBackend> MakeFewRowsBackend(std::unique_ptr<DenseBackend> otherwise) {
  return std::make_unique<FewRowsBackend>(std::move(otherwise));
}

}  // namespace assay::kernels::gpu
