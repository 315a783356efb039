#include "kernels/routing/bitmatrix.h"

namespace assay::kernels {

Bitmatrix PackBitmatrix(std::span<const int32_t> ids, int64_t tokens, int64_t k, int64_t experts) {
  Bitmatrix matrix{tokens, experts, (experts + 31) / 32, {}};
  matrix.bits.assign(static_cast<size_t>(tokens * matrix.words), 0);
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t j = 0; j < k; ++j) {
      const int32_t id = ids[static_cast<size_t>(t * k + j)];
      if (id < 0 || id >= experts) continue;
      matrix.bits[static_cast<size_t>(t * matrix.words + id / 32)] |= 1u << (static_cast<uint32_t>(id) & 31u);
    }
  }
  return matrix;
}

}  // namespace assay::kernels
