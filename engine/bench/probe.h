#pragma once

#include <string>
#include <vector>

#include "engine/parallel/worker_pool.h"
#include "kernels/memory/aligned.h"

namespace assay::engine {

// What this machine can do with as many threads as the model uses. Measured on the spot, because a shared
// machine's figures change by the minute.
class MachineProbe {
 public:
  explicit MachineProbe(int64_t threads);

  // Bytes a second that all threads together read from memory: the best of a few passes.
  double ReadBandwidth();
  struct Peak {
    std::string name;
    double operations_per_s = 0;
  };
  // The first is float32 multiply-add.
  std::vector<Peak> Peaks();

 private:
  WorkerPool pool_;
  kernels::Aligned<uint8_t> memory_;  // larger than any cache
};

}  // namespace assay::engine
