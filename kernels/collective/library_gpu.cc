// NCCL on NVIDIA and RCCL on AMD, which has the same names. Loaded when it is first needed, so that one
// program serves machines of one GPU that do not have it; what is called of it has been the same since
// NCCL 2.0 (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api.html).
#include <dlfcn.h>

#include <vector>

#include "kernels/collective/communicator.h"

namespace assay::kernels::gpu {
namespace {

#if defined(ASSAY_GPU_HIP)
constexpr const char* kNames[] = {"librccl.so.1", "librccl.so"};
#else
constexpr const char* kNames[] = {"libnccl.so.2", "libnccl.so"};
#endif

using Comm = struct Opaque*;    // ncclComm_t
constexpr int kSuccess = 0;     // ncclSuccess
constexpr int kUint8 = 1;       // ncclUint8
constexpr int kInProgress = 7;  // ncclInProgress
constexpr const char* kWhat = "an all-gather";

// Stays loaded until the process ends: its own threads may outlive a communicator.
struct Library {
  int (*init_all)(Comm*, int, const int*) = nullptr;
  int (*all_gather)(const void*, void*, size_t, int, Comm, void*) = nullptr;
  int (*async_error)(Comm, int*) = nullptr;
  int (*destroy)(Comm) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  const char* (*error_string)(int) = nullptr;

  // A text where it cannot be used.
  std::string Load() {
    void* handle = nullptr;
    for (const char* name : kNames) {
      if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (handle == nullptr) {
      const char* error = dlerror();
      return std::string(kNames[0]) + " cannot be loaded (" + (error != nullptr ? error : "no reason given") +
             "): install it, or name its folder in LD_LIBRARY_PATH";
    }
    const auto find = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      return function != nullptr;
    };
    const bool all = find("ncclCommInitAll", init_all) && find("ncclAllGather", all_gather) &&
                     find("ncclCommGetAsyncError", async_error) && find("ncclCommDestroy", destroy) &&
                     find("ncclGetErrorString", error_string) && find("ncclGroupStart", group_start) &&
                     find("ncclGroupEnd", group_end);
    return all ? "" : std::string(kNames[0]) + " lacks a function";
  }
};

class LibraryCommunicator final : public Communicator {
 public:
  LibraryCommunicator(const Library& library, std::vector<Comm> comms)
      : library_(library), comms_(std::move(comms)) {}
  LibraryCommunicator(const LibraryCommunicator&) = delete;
  ~LibraryCommunicator() override {
    library_.group_start();  // each waits for the others
    for (Comm comm : comms_) library_.destroy(comm);
    library_.group_end();
  }

  int DeviceOf(int rank) const override { return rank; }
  bool CanBeRecorded() const override { return true; }

  void AllGather(int rank, const Stream& stream, const void* from, void* to, size_t bytes) override {
    Comm comm = comms_[static_cast<size_t>(rank)];
    Check(library_.all_gather(from, to, bytes, kUint8, comm, stream.handle()));
    int error = kSuccess;  // of an earlier call, found since
    Check(library_.async_error(comm, &error));
    Check(error);
  }

 private:
  void Check(int result) const {
    if (result != kSuccess && result != kInProgress) DeviceFailed(kWhat, library_.error_string(result));
  }

  Library library_;
  std::vector<Comm> comms_;  // [ranks]
};

std::string CheckLibrary(int ranks, Library& library) {
  const int devices = DeviceCount();
  if (ranks > devices) return "there are " + std::to_string(devices) + " GPUs";
  return library.Load();
}

}  // namespace

std::string CheckLibraryCommunicator(int ranks) {
  Library library;
  return CheckLibrary(ranks, library);
}

std::unique_ptr<Communicator> MakeLibraryCommunicator(int ranks, std::string& problem) {
  Library library;
  problem = CheckLibrary(ranks, library);
  if (!problem.empty()) return nullptr;
  std::vector<Comm> comms(static_cast<size_t>(ranks));
  const int result = library.init_all(comms.data(), ranks, nullptr);  // ranks on devices 0, 1, ...
  if (result != kSuccess) {
    problem = std::string(kNames[0]) + ": " + library.error_string(result) + "; NCCL_DEBUG=INFO says more";
    return nullptr;
  }
  return std::make_unique<LibraryCommunicator>(library, std::move(comms));
}

}  // namespace assay::kernels::gpu
