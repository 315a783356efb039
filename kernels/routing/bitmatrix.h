#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::kernels {

// Which experts each row takes, one bit an expert: expert e of row t is bit e % 32 of word t * words + e
// / 32.
struct Bitmatrix {
  int64_t rows = 0, experts = 0, words = 0;  // words = ceil(experts / 32)
  std::vector<uint32_t> bits;                // [rows, words]

  bool Has(int64_t row, int64_t expert) const {
    return (bits[static_cast<size_t>(row * words + expert / 32)] >> (expert % 32) & 1u) != 0;
  }
};

// ids [tokens, k]. A slot that holds no expert has a negative id (a padding row, an expert of another rank)
// and sets no bit: the test comes before / and %, because -1 / 32 is 0 in C++ and would invent expert 31. An
// id >= experts sets no bit either.
Bitmatrix PackBitmatrix(std::span<const int32_t> ids, int64_t tokens, int64_t k, int64_t experts);

}  // namespace assay::kernels
