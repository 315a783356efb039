#pragma once

#include "engine/parallel/partition.h"

namespace assay::engine {

// What a tensor-parallel rank on a device of its own computes of each layer: some output columns of every
// product and some heads. No sum is cut, so where a column's result does not depend on the columns beside it
// (ModelOptions::batch_invariant) it is the same, bit by bit, for any number of ranks.
struct Shard {
  int rank = 0, ranks = 1;
  int64_t Part(int64_t whole) const { return whole / ranks; }
  int64_t Begin(int64_t whole) const { return Part(whole) * rank; }
};

}  // namespace assay::engine
