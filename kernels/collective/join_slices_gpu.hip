#include "kernels/collective/communicator.h"
#include "kernels/gpu/device.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kWord = sizeof(uint4);

// A block of threads takes words of one row; grid (rows, blocks of a row).
__global__ void __launch_bounds__(kThreads)
    Join(const uint4* from, int64_t ranks, int64_t rows, int64_t slice, uint4* to) {
  AwaitEarlier();
  const int64_t row = blockIdx.x, width = ranks * slice;
  const int64_t step = static_cast<int64_t>(gridDim.y) * kThreads;
  for (int64_t i = static_cast<int64_t>(blockIdx.y) * kThreads + threadIdx.x; i < width; i += step) {
    const int64_t rank = static_cast<int>(i) / static_cast<int>(slice);
    to[row * width + i] = from[(rank * rows + row) * slice + i - rank * slice];
  }
}

}  // namespace

void JoinSlices(void* stream, const void* from, int64_t ranks, int64_t rows, int64_t slice_bytes, void* to) {
  const int64_t slice = slice_bytes / kWord;
  const dim3 grid(static_cast<unsigned>(rows), BlocksOfRow(rows, ranks * slice, kThreads));
  ASSAY_LAUNCH("joining slices", Join, grid, kThreads, stream, static_cast<const uint4*>(from), ranks, rows,
               slice, static_cast<uint4*>(to));
}

}  // namespace assay::kernels::gpu
