#pragma once

// The device as host code sees it: memory, a queue of work, recorded graphs. No header of a vendor is needed
// here.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay::kernels::gpu {

// Exit code of a process whose device failed: what the operating system or the machine does, not the program.
constexpr int kDeviceFaultExit = 71;

// Ends the process with one line on standard error,
//   GPU fault in attention: CUDA error: an illegal memory access was encountered (requests 3, 7)
// A device that has faulted answers nothing any more, so there is nothing to go on with. Faults come to light
// when the host waits; which kernel it was is exact with ASSAY_GPU_SYNC=1 in the environment, which waits
// after each.
[[noreturn]] void DeviceFailed(const char* what, const std::string& error);
// Says what was being computed, for the line above; called only when the device has failed.
void DescribeWork(std::function<std::string()> describe);
// After a launch of the kernel `what`.
void CheckLaunch(const char* what, void* stream);
// Whether a kernel may start while the one before it ends: NVIDIA from sm_90 on, unless ASSAY_GPU_SYNC=1 or
// ASSAY_GPU_OVERLAP=0 in the environment.
bool KernelsOverlap();
// Whether a matrix instruction takes MXFP4 with its scales and FP8: gfx950.
bool MultipliesMxfp4ByFp8();

struct DeviceInfo {
  std::string name, architecture;  // "NVIDIA H200", "sm_90" or "gfx90a"
  int64_t multiprocessors = 0, memory_bytes = 0, free_bytes = 0;
};
// Nothing of the process needs a device before this is asked; an error text when there is none of that
// number.
std::string FindDevice(DeviceInfo& info, int device = 0);
int DeviceCount();  // 0 also where asking fails
// What the calling thread allocates, launches and queues is on that device from now on; 0 before.
void UseDevice(int device);

void* DeviceAllocate(size_t bytes, const char* what);
void DeviceFree(void* memory);
void* PinnedAllocate(size_t bytes, const char* what);
void PinnedFree(void* memory);

// `size` numbers of memory, of the device or of the host, pinned so that the device copies from and to it
// without a detour. What it is for stands in the line of a failed allocation.
template <class T, void* (*kAllocate)(size_t, const char*), void (*kFree)(void*)>
class Buffer {
 public:
  Buffer() = default;
  Buffer(int64_t size, const char* what)
      : data_(static_cast<T*>(kAllocate(static_cast<size_t>(size) * sizeof(T), what))), size_(size) {}
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() { kFree(data_); }

  T* data() const { return data_; }
  int64_t size() const { return size_; }
  size_t bytes() const { return static_cast<size_t>(size_) * sizeof(T); }

 private:
  T* data_ = nullptr;
  int64_t size_ = 0;
};
template <class T>
using DeviceBuffer = Buffer<T, DeviceAllocate, DeviceFree>;
template <class T>
using PinnedBuffer = Buffer<T, PinnedAllocate, PinnedFree>;

// Work that was recorded once and is replayed as one launch.
class Graph {
 public:
  Graph() = default;
  explicit Graph(void* executable) : executable_(executable) {}
  Graph(Graph&& other) noexcept : executable_(std::exchange(other.executable_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(executable_, other.executable_);
    return *this;
  }
  ~Graph();
  void* handle() const { return executable_; }

 private:
  void* executable_ = nullptr;
};

// Work in order. Calls return before it is done; Wait returns after.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;

  void* handle() const { return handle_; }
  void Wait(const char* what) const;
  void CopyToDevice(void* to, const void* from, size_t bytes) const;
  void CopyToHost(void* to, const void* from, size_t bytes) const;
  void CopyOnDevice(void* to, const void* from, size_t bytes) const;
  // `rows` rows of `width` bytes, whose starts are so many bytes apart.
  void CopyRowsToDevice(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                        size_t rows) const;
  void Fill(void* to, int byte, size_t bytes) const;
  // What `work` puts into this stream, recorded and not done.
  Graph Record(const std::function<void()>& work) const;
  void Replay(const Graph& graph) const;
  // Milliseconds of the device between here and the end of `work`.
  float Time(const std::function<void()>& work) const;

 private:
  void* handle_ = nullptr;
};

template <class T>
DeviceBuffer<T> ToDevice(const Stream& stream, std::span<const T> values, const char* what) {
  DeviceBuffer<T> buffer(static_cast<int64_t>(values.size()), what);
  stream.CopyToDevice(buffer.data(), values.data(), values.size_bytes());
  stream.Wait(what);  // `values` may go away
  return buffer;
}
template <class T>
DeviceBuffer<T> ToDevice(const Stream& stream, const std::vector<T>& values, const char* what) {
  return ToDevice(stream, std::span<const T>(values), what);
}
template <class T>
std::vector<T> ToHost(const Stream& stream, const T* from, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  stream.CopyToHost(values.data(), from, values.size() * sizeof(T));
  stream.Wait("a copy to the host");
  return values;
}
template <class T>
std::vector<T> ToHost(const Stream& stream, const DeviceBuffer<T>& buffer) {
  return ToHost(stream, static_cast<const T*>(buffer.data()), buffer.size());
}

}  // namespace assay::kernels::gpu
