#include "kernels/expert_matmul/expert_scaled_gpu.h"
#include "kernels/expert_matmul/gate_tile.h"
#include "kernels/routing/metadata.h"
#if defined(__gfx950__)
#include "kernels/gpu/scaled_matmul_amd.h"
#endif

namespace assay::kernels::gpu {
namespace {

// On other chips than gfx950 nothing launches these. A gfx950 that runs code for chips in general ends here.
// Grid (columns / kTileColumns, tiles of the schedule).
template <int kRows>
__global__ void __launch_bounds__(kMatmulThreads)
    GateUpScaled([[maybe_unused]] ExpertLayer layer, [[maybe_unused]] ExpertBatch batch,
                 [[maybe_unused]] const Bf16* x, [[maybe_unused]] Bf16* a) {
  AwaitEarlier();
#if defined(__gfx950__)
  const GateTile tile(batch, kRows, static_cast<int>(blockIdx.y));
  if (tile.expert < 0) return;
  ScaledMatmul<kRows>(TokenRowsOf(layer.gate_up, batch, tile, x),
                      Mxfp4Of::Weights(layer.gate_up, tile.expert),
                      static_cast<int>(blockIdx.x) * kTileColumns, GatedOutput{layer, tile, a, true});
#elif defined(ASSAY_GPU_HIP)
  __builtin_trap();
#endif
}

template <int kRows>
__global__ void __launch_bounds__(kMatmulThreads)
    DownScaled([[maybe_unused]] ExpertLayer layer, [[maybe_unused]] ExpertBatch batch,
               [[maybe_unused]] const Bf16* a, [[maybe_unused]] float* out) {
  AwaitEarlier();
#if defined(__gfx950__)
  const GateTile tile(batch, kRows, static_cast<int>(blockIdx.y));
  if (tile.expert < 0) return;
  ScaledMatmul<kRows>(GatedRowsOf(layer.down, tile, a), Mxfp4Of::Weights(layer.down, tile.expert),
                      static_cast<int>(blockIdx.x) * kTileColumns, DownOutput{layer.down, tile, out});
#elif defined(ASSAY_GPU_HIP)
  __builtin_trap();
#endif
}

dim3 Grid(const ExpertMatrix& matrix, const ExpertBatch& batch) {
  return {Blocks(matrix.columns, kTileColumns),
          static_cast<unsigned>(MaxTiles(batch.tokens * batch.k, batch.experts, batch.block))};
}

}  // namespace

bool ScaledFits(const ExpertLayer& layer) {
  return layer.gate_up.bf16 == nullptr && layer.gate_up.fp8 && layer.down.fp8 && MultipliesMxfp4ByFp8();
}

void ExpertGateUpScaled(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* x,
                        Bf16* a) {
  const auto kernel = batch.block == 16   ? GateUpScaled<16>
                      : batch.block == 64 ? GateUpScaled<64>
                                          : GateUpScaled<128>;
  ASSAY_LAUNCH("expert gate_up, scaled", kernel, Grid(layer.gate_up, batch), kMatmulThreads, stream, layer,
               batch, x, a);
}

void ExpertDownScaled(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* a,
                      float* out) {
  const auto kernel = batch.block == 16   ? DownScaled<16>
                      : batch.block == 64 ? DownScaled<64>
                                          : DownScaled<128>;
  ASSAY_LAUNCH("expert down, scaled", kernel, Grid(layer.down, batch), kMatmulThreads, stream, layer, batch,
               a, out);
}

}  // namespace assay::kernels::gpu
