#pragma once

#include <cstdint>
#include <span>

namespace assay::kernels {

// Which experts a token takes. Logits [tokens, experts]; ids and weights [tokens, k].
//
// The k largest logits win under a total order: a NaN of either sign is the lowest, below -infinity, and
// among equals the lower expert id wins, so that every row gets k distinct ids in [0, experts) whatever its
// logits. The k ids of a row are in ascending order, which fixes the order of the weighted sum later. weights
// = softmax over the k logits alone; a row of k infinite or NaN logits has no meaningful weights (NaN), which
// is left visible.
//
// Rows with is_padding[t] != 0 get ids -1 and weights 0, by selection: their logits may be anything. An empty
// `is_padding` means that every row is real.
struct TopKShape {
  int64_t tokens, experts, k;
};
void TopKReference(const TopKShape& shape, const float* logits, std::span<const uint8_t> is_padding,
                   int32_t* ids, float* weights);
void TopK(const TopKShape& shape, const float* logits, std::span<const uint8_t> is_padding, int32_t* ids,
          float* weights);

}  // namespace assay::kernels
