#pragma once

#include <cstdint>
#include <optional>

// How fast the machine is at this moment, whatever the server does: a fixed piece of work, timed. On a shared
// or virtual machine two equal programs a minute apart may differ by half; the work then differs as well.
namespace assay::runner {

// Passes a second of a fixed loop (integer arithmetic over 256 KiB), all cores together but at most 16 of
// them. Takes about 50 ms.
double MachinePace();

// CPU time of this virtual machine that its host gave to others, in jiffies, and all CPU time; zeros where
// /proc/stat does not say.
struct CpuTime {
  int64_t stolen = 0, all = 0;
};
CpuTime ReadCpuTime();

// Watches over a benchmark. The pace is the lower of those before and after it, less the share of CPU time
// that was stolen in between: what was lost for a part of it was lost.
class PaceWatch {
 public:
  PaceWatch();
  double PassesPerSecond() const;

 private:
  double before_;
  CpuTime start_;
};

}  // namespace assay::runner
