#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/parallel/worker_pool.h"
#include "kernels/memory/aligned.h"

namespace assay::engine {

// What speeds are held against. Measured on the spot, because a shared machine's figures change by the
// minute.
class Probe {
 public:
  virtual ~Probe() = default;
  // Bytes a second that are read from memory: the best of a few passes.
  virtual double ReadBandwidth() = 0;
  struct Peak {
    std::string name;
    double operations_per_s = 0;
  };
  // The first is what a model's arithmetic is held against.
  virtual std::vector<Peak> Peaks() = 0;
};

// This machine with as many threads as the model uses; the first peak is float32 multiply-add.
class MachineProbe final : public Probe {
 public:
  explicit MachineProbe(int64_t threads);
  double ReadBandwidth() override;
  std::vector<Peak> Peaks() override;

 private:
  WorkerPool pool_;
  kernels::Aligned<uint8_t> memory_;  // larger than any cache
};

// So many GPUs like the first one; the one peak is a product of large bf16 matrices. Nothing where this was
// built without a GPU backend.
std::unique_ptr<Probe> MakeDeviceProbe(int devices);

}  // namespace assay::engine
