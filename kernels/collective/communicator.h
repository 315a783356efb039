#pragma once

// What ranks of one model, each a thread with a stream of its own, say to one another.
#include <cstddef>
#include <memory>
#include <string>

#include "kernels/gpu/runtime.h"

namespace assay::kernels::gpu {

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int DeviceOf(int rank) const = 0;
  // Whether AllGather may be part of a recorded graph.
  virtual bool CanBeRecorded() const = 0;
  // to [ranks][bytes] = what each rank gave, in the order of ranks. Every rank's thread calls it, for the
  // same number of bytes and the same number of times; returns once it is queued.
  virtual void AllGather(int rank, const Stream& stream, const void* from, void* to, size_t bytes) = 0;
};

// A device for each rank, by the vendor's library: NCCL, or RCCL on AMD, which is looked for where the system
// looks for libraries. Nothing and a text in `problem` where it or a device is missing or fails.
// Check.. says early, and without starting anything, what is missing; "" when nothing is.
std::string CheckLibraryCommunicator(int ranks);
std::unique_ptr<Communicator> MakeLibraryCommunicator(int ranks, std::string& problem);
// All ranks on one device, for tests where there are not enough: threads wait for one another at each call.
std::unique_ptr<Communicator> MakeSharedDeviceCommunicator(int ranks);

// to [rows, ranks * slice_bytes] of from [ranks][rows][slice_bytes]: the slices of a row side by side.
// slice_bytes is a multiple of 16.
void JoinSlices(void* stream, const void* from, int64_t ranks, int64_t rows, int64_t slice_bytes, void* to);

}  // namespace assay::kernels::gpu
