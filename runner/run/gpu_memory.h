#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "runner/plan/machine.h"

namespace assay::runner {

// Memory of the GPUs that a server takes. A driver gives back a dead process's memory some time after the
// process is gone, and the next server would find too little.
class GpuMemoryWatch {
 public:
  // Made before the server starts. `nvidia_devices` as nvidia-smi -i takes them, "" for all; of AMD's GPUs
  // all are looked at.
  GpuMemoryWatch(Probe probe, std::string nvidia_devices);

  // After the server has stopped: waits until each GPU holds at most 512 MB more than before, or for `limit`,
  // or until interrupted. "" when they do, or nothing is known of them; else what is still held:
  // "61000 MB more than before the server started are still held on GPU 0, 60 s after it stopped".
  std::string AwaitFreed(std::chrono::milliseconds limit, const std::atomic<bool>& interrupted) const;

 private:
  Probe probe_;
  std::string nvidia_devices_;
  std::vector<double> before_;  // [GPUs] MB; empty: not known
};

}  // namespace assay::runner
