#include "kernels/routing/bitmatrix.h"

#include "base/planted_fault.h"

namespace assay::kernels {
namespace {

// 32 lanes a row as a GPU kernel has them, those beyond k masked with -1, and no lane skipped: C's -1 / 32 is
// 0, and -1 & 31 is 31.
void PackAsCDivides(std::span<const int32_t> ids, int64_t k, Bitmatrix& matrix) {
  for (int64_t t = 0; t < matrix.rows; ++t) {
    for (int64_t lane = 0; lane < 32; ++lane) {
      const int32_t id = lane < k ? ids[static_cast<size_t>(t * k + lane)] : -1;
      matrix.bits[static_cast<size_t>(t * matrix.words + id / 32)] |= 1u << (static_cast<uint32_t>(id) & 31u);
    }
  }
}

}  // namespace

Bitmatrix PackBitmatrix(std::span<const int32_t> ids, int64_t tokens, int64_t k, int64_t experts) {
  Bitmatrix matrix{tokens, experts, (experts + 31) / 32, {}};
  matrix.bits.assign(static_cast<size_t>(tokens * matrix.words), 0);
  if (Planted(Fault::kRoutingBit31) || Planted(Fault::kUncheckedBit31)) {
    PackAsCDivides(ids, k, matrix);
    return matrix;
  }
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
