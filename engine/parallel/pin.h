#pragma once

#include <cstdint>

namespace assay::engine {

// Keeps the calling thread on share `index` of `shares` of the cores that the process may use. Does nothing
// when there are fewer cores than shares: two threads on one core are worse than one that wanders.
void PinThisThread(int64_t index, int64_t shares);

}  // namespace assay::engine
