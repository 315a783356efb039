#include <algorithm>

#include "kernels/dense_matmul/dense_output.h"
#include "kernels/gpu/few_rows.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kAhead = 6;            // groups of k whose weights a lane has in flight
constexpr int kGroup = 4 * 8;        // of k that a team takes at a time: eight a lane
constexpr int64_t kAtOnce = 400;     // blocks of threads that a large device holds
constexpr int64_t kMostRepeats = 8;  // kFewColumns that a block of threads takes one after the other
static_assert(FewTile::kBlocks == 4 && kStagedPad % kGroup == 0);

// sums[chunk] += eight k of a lane; x_of(chunk) gives those of its token.
template <int kChunks, class Eight>
__device__ void AddEight(const uint4 (&held)[FewTile::kLaneColumns], int chunks, const Eight& x_of,
                         FewTile::Sums (&sums)[kChunks]) {
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    if (kChunks > 1 && chunk >= chunks) break;
    const uint4 x = x_of(chunk);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint32_t weights[FewTile::kLaneColumns][2];
#pragma unroll
      for (int i = 0; i < FewTile::kLaneColumns; ++i) {
        weights[i][0] = WordOf(held[i], 2 * half);
        weights[i][1] = WordOf(held[i], 2 * half + 1);
      }
      const uint32_t four[2] = {WordOf(x, 2 * half), WordOf(x, 2 * half + 1)};
      FewTile::Add(weights, four, sums[chunk]);
    }
  }
}

// Where a lane's eight of a group begin.
__device__ int PlaceOf(int group) {
  return group * kGroup + FewTile::Block() * 8;
}

__device__ void LoadEight(const DenseMatmul& in, int first_column, int group,
                          uint4 (&held)[FewTile::kLaneColumns]) {
  const int k = static_cast<int>(in.k), at = PlaceOf(group);
#pragma unroll
  for (int c = 0; c < FewTile::kLaneColumns; ++c) {
    const int column = first_column + FewTile::Column(c);
    held[c] = LoadOrZero(column < in.columns && at < k, in.weights + static_cast<int64_t>(column) * k + at);
  }
}

// Brings near what a block of threads will ask for after its first groups, and its biases.
__device__ void PrefetchRest(const DenseMatmul& in, int first_column) {
  constexpr int kLine = 64, kGroups = kFewThreads / kLanes;
  const int k = static_cast<int>(in.k), begin = kAhead * kFewTeams * kGroup;
  const int lines = (k - begin + kLine - 1) / kLine;
  if (threadIdx.x == 0 && in.bias != nullptr) Prefetch(in.bias + first_column);
  if (lines <= 0) return;
  for (int column = GroupOfLanes(); column < kFewColumns; column += kGroups) {
    if (first_column + column >= in.columns) return;
    const Bf16* from = in.weights + static_cast<int64_t>(first_column + column) * k + begin;
    for (int i = Lane(); i < lines; i += kLanes) Prefetch(from + i * kLine);
  }
}

// The columns of a block of threads, whose first weights it holds; x_of(place in k, chunk) gives activations.
template <int kChunks, class Eight>
__device__ void MultiplyColumns(const DenseMatmul& in, uint4 (&held)[kAhead][FewTile::kLaneColumns],
                                const Eight& x_of) {
  const int groups = (static_cast<int>(in.k) + kGroup - 1) / kGroup, rows = static_cast<int>(in.rows);
  const int chunks = (rows + FewTile::kTokens - 1) / FewTile::kTokens;
  const int team = static_cast<int>(threadIdx.x) / FewTile::kTeam;
  const int a_round = static_cast<int>(gridDim.x) * kFewColumns;
  for (int column = static_cast<int>(blockIdx.x) * kFewColumns; column < in.columns; column += a_round) {
    FewTile::Sums sums[kChunks];
    for (int first = team; first < groups; first += kAhead * kFewTeams) {
      const bool last = first + kAhead * kFewTeams >= groups;
      const int next_column = last ? column + a_round : column;
      const int next = last ? team : first + kAhead * kFewTeams;
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const int group = first + i * kFewTeams;
        if (group < groups) {
          const int at = PlaceOf(group);
          AddEight(
              held[i], chunks, [&](int chunk) { return x_of(at, chunk); }, sums);
        }
        LoadEight(in, next_column, next + i * kFewTeams, held[i]);
      }
    }
    SumTeams(sums, rows, [&](int row, int at, float first, float second) {
      StoreDense(in, row, column + at, first, second);
    });
    __syncthreads();  // all have read the sums
  }
}

// Grid: columns / kFewColumns over repeats.
__global__ void __launch_bounds__(kFewThreads) DenseFew(DenseMatmul in) {
  __shared__ __align__(16) Bf16 staged[kStagedRows * kStagedStride];
  const int k = static_cast<int>(in.k), rows = static_cast<int>(in.rows);
  const int first_column = static_cast<int>(blockIdx.x) * kFewColumns;
  const int team = static_cast<int>(threadIdx.x) / FewTile::kTeam;
  uint4 held[kAhead][FewTile::kLaneColumns];
#pragma unroll
  for (int i = 0; i < kAhead; ++i) LoadEight(in, first_column, team + i * kFewTeams, held[i]);
  PrefetchRest(in, first_column);
  AwaitEarlier();
  const auto row_at = [&](int row) { return in.x + static_cast<int64_t>(row) * k; };
  if (Stages(rows, k)) {
    static_assert(kStagedRows <= FewTile::kTokens);
    StageRows(
        row_at, rows, k, [](const uint4& eight) { return eight; }, staged);
    // A token that is not there is another one, and nobody takes its sums.
    const Bf16* from = staged + min(FewTile::Token(), rows - 1) * kStagedStride;
    MultiplyColumns<1>(in, held, [&](int at, int) { return *reinterpret_cast<const uint4*>(from + at); });
    return;
  }
  MultiplyColumns<kFewChunks>(in, held, [&](int at, int chunk) {
    const int row = chunk * FewTile::kTokens + FewTile::Token();
    return LoadOrZero(row < rows && at < k, row_at(row) + at);
  });
}

class FewRowsBackend final : public DenseBackend {
 public:
  explicit FewRowsBackend(std::unique_ptr<DenseBackend> otherwise) : otherwise_(std::move(otherwise)) {}
  void Multiply(void* stream, const DenseMatmul& product) override {
    if (product.rows > kFewRows) return otherwise_->Multiply(stream, product);
    const int64_t columns = Blocks(product.columns, kFewColumns);
    const int64_t repeats = std::clamp<int64_t>(columns / kAtOnce, 1, kMostRepeats);
    ASSAY_LAUNCH("dense_matmul, few rows", DenseFew, dim3(Blocks(columns, repeats)), kFewThreads, stream,
                 product);
  }

 private:
  std::unique_ptr<DenseBackend> otherwise_;
};

}  // namespace

std::unique_ptr<DenseBackend> MakeFewRowsBackend(std::unique_ptr<DenseBackend> otherwise) {
  return std::make_unique<FewRowsBackend>(std::move(otherwise));
}

}  // namespace assay::kernels::gpu
