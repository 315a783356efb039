// Dense products by the vendor's library: cuBLASLt on NVIDIA.
#include "kernels/dense_matmul/dense_matmul_gpu.h"

#if defined(ASSAY_GPU_CUDA)
#include <cublasLt.h>

#include <map>
#include <string>
#include <tuple>

#include "kernels/gpu/runtime.h"
#endif

namespace assay::kernels::gpu {

#if !defined(ASSAY_GPU_CUDA)

std::unique_ptr<DenseBackend> MakeLibraryBackend() {
  return nullptr;
}

#else
namespace {

constexpr size_t kWorkspace = size_t{32} << 20;

void Check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    DeviceFailed("dense_matmul", std::string(what) + ": " + cublasLtGetStatusString(status));
}

// In the type of the result.
const void* BiasOf(const DenseMatmul& product) {
  return product.y_bf16 != nullptr ? static_cast<const void*>(product.bias_bf16) : product.bias;
}

// What the library was told about one shape, and the way that it chose.
class Plan {
 public:
  Plan(cublasLtHandle_t library, const DenseMatmul& product) {
    const cudaDataType_t out = product.y_bf16 != nullptr ? CUDA_R_16BF : CUDA_R_32F;
    const auto rows = static_cast<uint64_t>(product.rows), columns = static_cast<uint64_t>(product.columns);
    const auto k = static_cast<uint64_t>(product.k);
    Check(cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "a product");
    // The library thinks in columns: y^T = w x^T, where w is transposed as it lies.
    const cublasOperation_t transposed = CUBLAS_OP_T;
    Set(CUBLASLT_MATMUL_DESC_TRANSA, transposed);
    if (product.bias != nullptr) {
      Set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      Set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, out);
      Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, BiasOf(product));  // its alignment matters to the choice
    }
    Check(cublasLtMatrixLayoutCreate(&weights_, CUDA_R_16BF, k, columns, product.k), "weights");
    Check(cublasLtMatrixLayoutCreate(&x_, CUDA_R_16BF, k, rows, product.k), "activations");
    Check(cublasLtMatrixLayoutCreate(&y_, out, columns, rows, product.columns), "the result");

    cublasLtMatmulPreference_t preference = nullptr;
    Check(cublasLtMatmulPreferenceCreate(&preference), "a preference");
    Check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &kWorkspace, sizeof(kWorkspace)),
          "a preference");
    // Parts of a sum that is cut are added as float32, not as what the result is rounded to.
    const uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    Check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                               &reductions, sizeof(reductions)),
          "a preference");
    cublasLtMatmulHeuristicResult_t best{};
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(library, operation_, weights_, x_, y_, y_,
                                                                 preference, 1, &best, &found);
    Check(cublasLtMatmulPreferenceDestroy(preference), "a preference");
    if (status != CUBLAS_STATUS_SUCCESS || found == 0) {
      DeviceFailed("dense_matmul", "the library has no way to multiply " + std::to_string(product.rows) +
                                       " x " + std::to_string(product.k) + " by " +
                                       std::to_string(product.columns) +
                                       " columns: " + cublasLtGetStatusString(status));
    }
    algorithm_ = best.algo;
  }
  ~Plan() {
    cublasLtMatrixLayoutDestroy(y_);
    cublasLtMatrixLayoutDestroy(x_);
    cublasLtMatrixLayoutDestroy(weights_);
    cublasLtMatmulDescDestroy(operation_);
  }
  Plan(const Plan&) = delete;

  void Run(cublasLtHandle_t library, void* stream, void* workspace, const DenseMatmul& product) {
    if (product.bias != nullptr) Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, BiasOf(product));
    const float one = 1, before = product.add ? 1 : 0;
    void* y = product.y_bf16 != nullptr ? static_cast<void*>(product.y_bf16) : product.y_float32;
    Check(cublasLtMatmul(library, operation_, &one, product.weights, weights_, product.x, x_, &before, y, y_,
                         y, y_, &algorithm_, workspace, kWorkspace, static_cast<cudaStream_t>(stream)),
          "multiplying");
  }

 private:
  template <class Value>
  void Set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    Check(cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof(value)), "a product");
  }

  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t weights_ = nullptr, x_ = nullptr, y_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

class LibraryBackend final : public DenseBackend {
 public:
  LibraryBackend() : workspace_(static_cast<int64_t>(kWorkspace), "the workspace of dense_matmul") {
    Check(cublasLtCreate(&library_), "starting the library");
  }
  ~LibraryBackend() override {
    plans_.clear();
    cublasLtDestroy(library_);
  }
  LibraryBackend(const LibraryBackend&) = delete;

  void Multiply(void* stream, const DenseMatmul& product) override {
    const Key key{product.rows, product.columns, product.k, product.y_bf16 != nullptr,
                  product.bias != nullptr};
    auto at = plans_.find(key);
    if (at == plans_.end()) at = plans_.emplace(key, std::make_unique<Plan>(library_, product)).first;
    at->second->Run(library_, stream, workspace_.data(), product);
    CheckLaunch("dense_matmul", stream);
  }

 private:
  using Key = std::tuple<int64_t, int64_t, int64_t, bool, bool>;

  cublasLtHandle_t library_ = nullptr;
  DeviceBuffer<uint8_t> workspace_;
  std::map<Key, std::unique_ptr<Plan> > plans_;
};

}  // namespace

std::unique_ptr<DenseBackend> MakeLibraryBackend() {
  return std::make_unique<LibraryBackend>();
}
#endif

}  // namespace assay::kernels::gpu
