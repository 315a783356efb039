#include <cstdio>
#include <cstdlib>

#include "kernels/gpu/hip_names.h"
#include "kernels/gpu/runtime.h"

namespace assay::kernels::gpu {
namespace {

#if defined(ASSAY_GPU_HIP)
constexpr const char* kVendor = "HIP";
#else
constexpr const char* kVendor = "CUDA";
#endif

std::function<std::string()>& Work() {
  static std::function<std::string()> work;
  return work;
}

void Check(hipError_t error, const char* what) {
  if (error != hipSuccess) DeviceFailed(what, std::string(kVendor) + " error: " + hipGetErrorString(error));
}

hipStream_t Of(void* stream) {
  return static_cast<hipStream_t>(stream);
}

bool IsSet(const char* variable, const char* to) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string(value) == to;
}
bool WaitAfterEachLaunch() {
  static const bool wait = IsSet("ASSAY_GPU_SYNC", "1");
  return wait;
}
thread_local bool recording = false;

}  // namespace

void DeviceFailed(const char* what, const std::string& error) {
  const std::string work = Work() ? " (" + Work()() + ")" : "";
  std::fprintf(stderr, "GPU fault in %s: %s%s\n", what, error.c_str(), work.c_str());
  std::fflush(stderr);
  std::_Exit(kDeviceFaultExit);
}

void DescribeWork(std::function<std::string()> describe) {
  Work() = std::move(describe);
}

void CheckLaunch(const char* what, void* stream) {
  Check(hipGetLastError(), what);
  if (WaitAfterEachLaunch() && !recording) Check(hipStreamSynchronize(Of(stream)), what);
}

bool KernelsOverlap() {
#if defined(ASSAY_GPU_HIP)
  return false;
#else
  static const bool overlap = [] {
    int major = 0;
    Check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "asking for the device");
    return major >= 9 && !WaitAfterEachLaunch() && !IsSet("ASSAY_GPU_OVERLAP", "0");
  }();
  return overlap;
#endif
}

bool MultipliesMxfp4ByFp8() {
#if defined(ASSAY_GPU_HIP)
  static const bool multiplies = [] {
    hipDeviceProp_t properties;
    Check(hipGetDeviceProperties(&properties, 0), "asking for the device");
    return std::string(properties.gcnArchName).starts_with("gfx950");  // "gfx950:sramecc+:xnack-"
  }();
  return multiplies;
#else
  return false;
#endif
}

std::string FindDevice(DeviceInfo& info, int device) {
  int count = 0, used = 0;
  hipError_t error = hipGetDeviceCount(&count);
  if (error == hipSuccess && count == 0) return std::string(kVendor) + " finds no device";
  if (error == hipSuccess && device >= count)
    return std::string(kVendor) + " finds " + std::to_string(count) + " devices";
  hipDeviceProp_t properties;
  size_t free_bytes = 0, bytes = 0;
  if (error == hipSuccess) error = hipGetDeviceProperties(&properties, device);
  if (error == hipSuccess) error = hipGetDevice(&used);
  if (error == hipSuccess) error = hipSetDevice(device);
  if (error == hipSuccess) error = hipMemGetInfo(&free_bytes, &bytes);
  if (error == hipSuccess) error = hipSetDevice(used);
  if (error != hipSuccess) return std::string(kVendor) + " error: " + hipGetErrorString(error);
  info.name = properties.name;
#if defined(ASSAY_GPU_HIP)
  info.architecture = properties.gcnArchName;
#else
  info.architecture = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
#endif
  info.multiprocessors = properties.multiProcessorCount;
  info.memory_bytes = static_cast<int64_t>(bytes);
  info.free_bytes = static_cast<int64_t>(free_bytes);
  return "";
}

int DeviceCount() {
  int count = 0;
  return hipGetDeviceCount(&count) == hipSuccess ? count : 0;
}

void UseDevice(int device) {
  Check(hipSetDevice(device), "choosing a device");
}

void* DeviceAllocate(size_t bytes, const char* what) {
  void* memory = nullptr;
  if (bytes > 0) Check(hipMalloc(&memory, bytes), what);
  return memory;
}

void DeviceFree(void* memory) {
  if (memory != nullptr) Check(hipFree(memory), "freeing device memory");
}

void* PinnedAllocate(size_t bytes, const char* what) {
  void* memory = nullptr;
  if (bytes > 0) Check(hipHostMalloc(&memory, bytes, 0), what);
  return memory;
}

void PinnedFree(void* memory) {
  if (memory != nullptr) Check(hipHostFree(memory), "freeing pinned memory");
}

Graph::~Graph() {
  if (executable_ != nullptr)
    Check(hipGraphExecDestroy(static_cast<hipGraphExec_t>(executable_)), "freeing a graph");
}

Stream::Stream() {
  hipStream_t stream = nullptr;
  Check(hipStreamCreate(&stream), "making a stream");
  handle_ = stream;
}

Stream::~Stream() {
  Check(hipStreamDestroy(Of(handle_)), "freeing a stream");
}

void Stream::Wait(const char* what) const {
  Check(hipStreamSynchronize(Of(handle_)), what);
}

void Stream::CopyToDevice(void* to, const void* from, size_t bytes) const {
  if (bytes == 0) return;
  Check(hipMemcpyAsync(to, from, bytes, hipMemcpyHostToDevice, Of(handle_)), "a copy to the device");
}

void Stream::CopyToHost(void* to, const void* from, size_t bytes) const {
  if (bytes == 0) return;
  Check(hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToHost, Of(handle_)), "a copy to the host");
}

void Stream::CopyOnDevice(void* to, const void* from, size_t bytes) const {
  if (bytes == 0) return;
  Check(hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, Of(handle_)), "a copy on the device");
}

void Stream::CopyRowsToDevice(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t rows) const {
  if (width == 0 || rows == 0) return;
  Check(hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, hipMemcpyHostToDevice, Of(handle_)),
        "a copy to the device");
}

void Stream::Fill(void* to, int byte, size_t bytes) const {
  if (bytes > 0) Check(hipMemsetAsync(to, byte, bytes, Of(handle_)), "filling device memory");
}

Graph Stream::Record(const std::function<void()>& work) const {
  hipGraph_t graph = nullptr;
  hipGraphExec_t executable = nullptr;
  Check(hipStreamBeginCapture(Of(handle_), hipStreamCaptureModeThreadLocal), "recording a graph");
  recording = true;
  work();
  recording = false;
  Check(hipStreamEndCapture(Of(handle_), &graph), "recording a graph");
  Check(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), "making a graph");
  Check(hipGraphDestroy(graph), "recording a graph");
  return Graph(executable);
}

void Stream::Replay(const Graph& graph) const {
  Check(hipGraphLaunch(static_cast<hipGraphExec_t>(graph.handle()), Of(handle_)), "replaying a graph");
}

float Stream::Time(const std::function<void()>& work) const {
  hipEvent_t begin = nullptr, end = nullptr;
  Check(hipEventCreate(&begin), "making an event");
  Check(hipEventCreate(&end), "making an event");
  Check(hipEventRecord(begin, Of(handle_)), "an event");
  work();
  Check(hipEventRecord(end, Of(handle_)), "an event");
  Check(hipEventSynchronize(end), "timed work");
  float milliseconds = 0;
  Check(hipEventElapsedTime(&milliseconds, begin, end), "an event");
  Check(hipEventDestroy(begin), "an event");
  Check(hipEventDestroy(end), "an event");
  return milliseconds;
}

}  // namespace assay::kernels::gpu
