#include "kernels/dense_matmul/dense_output.h"
#include "kernels/gpu/tile_matmul.h"

namespace assay::kernels::gpu {
namespace {

// Rows [kRows * y, ..) x columns [kTileColumns * x, ..).
template <int kRows>
__global__ void __launch_bounds__(kMatmulThreads) DenseTile(DenseMatmul in) {
  AwaitEarlier();
  const int first_row = static_cast<int>(blockIdx.y) * kRows;
  const PlainRows rows{in.x, first_row, static_cast<int>(in.rows), static_cast<int>(in.k)};
  const Bf16Weights weights{in.weights, static_cast<int>(in.columns), static_cast<int>(in.k)};
  TileMatmul<kRows>(rows, weights, static_cast<int>(blockIdx.x) * kTileColumns,
                    [&](int row, int column, float first, float second) {
                      StoreDense(in, first_row + row, column, first, second);
                    });
}

class TileBackend final : public DenseBackend {
 public:
  void Multiply(void* stream, const DenseMatmul& product) override {
    if (product.rows <= 16) return Launch<16>(stream, product);
    return product.rows <= 64 ? Launch<64>(stream, product) : Launch<128>(stream, product);
  }

 private:
  template <int kRows>
  void Launch(void* stream, const DenseMatmul& product) {
    const auto kernel = DenseTile<kRows>;
    ASSAY_LAUNCH("dense_matmul", kernel,
                 dim3(Blocks(product.columns, kTileColumns), Blocks(product.rows, kRows)), kMatmulThreads,
                 stream, product);
  }
};

}  // namespace

std::unique_ptr<DenseBackend> MakeTileBackend() {
  return std::make_unique<TileBackend>();
}

}  // namespace assay::kernels::gpu
