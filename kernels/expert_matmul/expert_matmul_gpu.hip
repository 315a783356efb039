#include "kernels/expert_matmul/expert_few_gpu.h"
#include "kernels/expert_matmul/expert_matmul_gpu.h"
#include "kernels/expert_matmul/expert_scaled_gpu.h"
#include "kernels/expert_matmul/gate_tile.h"
#include "kernels/routing/metadata.h"

namespace assay::kernels::gpu {
namespace {

// Grid (columns / kTileColumns, tiles of the schedule).
template <int kRows, class Format>
__global__ void __launch_bounds__(kMatmulThreads)
    GateUpTile(ExpertLayer layer, ExpertBatch batch, const Bf16* x, Bf16* a, bool fp8) {
  AwaitEarlier();
  const GateTile tile(batch, kRows, static_cast<int>(blockIdx.y));
  if (tile.expert < 0) return;
  TileMatmul<kRows>(TokenRowsOf(layer.gate_up, batch, tile, x), Format::Weights(layer.gate_up, tile.expert),
                    static_cast<int>(blockIdx.x) * kTileColumns, GatedOutput{layer, tile, a, fp8});
}

template <int kRows, class Format>
__global__ void __launch_bounds__(kMatmulThreads)
    DownTile(ExpertLayer layer, ExpertBatch batch, const Bf16* a, float* out) {
  AwaitEarlier();
  const GateTile tile(batch, kRows, static_cast<int>(blockIdx.y));
  if (tile.expert < 0) return;
  TileMatmul<kRows>(GatedRowsOf(layer.down, tile, a), Format::Weights(layer.down, tile.expert),
                    static_cast<int>(blockIdx.x) * kTileColumns, DownOutput{layer.down, tile, out});
}

constexpr int kCombineThreads = 256;

// Grid (tokens, blocks of a row).
__global__ void __launch_bounds__(kCombineThreads)
    Combine(ExpertBatch batch, const float* out, int64_t hidden, float* y) {
  AwaitEarlier();
  const int64_t t = blockIdx.x, step = static_cast<int64_t>(gridDim.y) * kCombineThreads;
  for (int64_t i = static_cast<int64_t>(blockIdx.y) * kCombineThreads + threadIdx.x; i < hidden; i += step)
    CombineSlots(batch, out, hidden, t, i, y);
}

template <class Format>
void LaunchGateUp(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* x, Bf16* a,
                  bool fp8) {
  const auto kernel = batch.block == 16   ? GateUpTile<16, Format>
                      : batch.block == 64 ? GateUpTile<64, Format>
                                          : GateUpTile<128, Format>;
  const dim3 grid(Blocks(layer.gate_up.columns, kTileColumns),
                  static_cast<unsigned>(MaxTiles(batch.tokens * batch.k, batch.experts, batch.block)));
  ASSAY_LAUNCH("expert gate_up", kernel, grid, kMatmulThreads, stream, layer, batch, x, a, fp8);
}

template <class Format>
void LaunchDown(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* a, float* out) {
  const auto kernel = batch.block == 16   ? DownTile<16, Format>
                      : batch.block == 64 ? DownTile<64, Format>
                                          : DownTile<128, Format>;
  const dim3 grid(Blocks(layer.down.columns, kTileColumns),
                  static_cast<unsigned>(MaxTiles(batch.tokens * batch.k, batch.experts, batch.block)));
  ASSAY_LAUNCH("expert down", kernel, grid, kMatmulThreads, stream, layer, batch, a, out);
}

}  // namespace

int64_t ExpertBlock(int64_t tokens, int64_t k, int64_t experts) {
  const int64_t expected = tokens * k / experts;
  return expected <= 16 ? 16 : expected <= 64 ? 64 : 128;
}

bool FewRowsAreFaster(int64_t tokens, int64_t k, int64_t experts) {
  return tokens * k <= 8 * experts;
}

void ExpertGateUp(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* x, Bf16* a,
                  bool fp8) {
  if (batch.few_rows && FewRowsFit(layer, batch)) return ExpertGateUpFew(stream, layer, batch, x, a, fp8);
  if (ScaledFits(layer)) return ExpertGateUpScaled(stream, layer, batch, x, a);
  if (layer.gate_up.bf16 != nullptr) return LaunchGateUp<Bf16Of>(stream, layer, batch, x, a, fp8);
  LaunchGateUp<Mxfp4Of>(stream, layer, batch, x, a, fp8);
}

void ExpertDown(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* a, float* out) {
  if (batch.few_rows && FewRowsFit(layer, batch)) return ExpertDownFew(stream, layer, batch, a, out);
  if (ScaledFits(layer)) return ExpertDownScaled(stream, layer, batch, a, out);
  if (layer.down.bf16 != nullptr) return LaunchDown<Bf16Of>(stream, layer, batch, a, out);
  LaunchDown<Mxfp4Of>(stream, layer, batch, a, out);
}

void ExpertCombine(void* stream, const ExpertBatch& batch, const float* out, int64_t hidden, float* y) {
  const dim3 grid(static_cast<unsigned>(batch.tokens), BlocksOfRow(batch.tokens, hidden, kCombineThreads));
  ASSAY_LAUNCH("expert combine", Combine, grid, kCombineThreads, stream, batch, out, hidden, y);
}

}  // namespace assay::kernels::gpu
