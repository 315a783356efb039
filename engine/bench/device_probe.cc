#include "engine/bench/probe.h"
#if defined(ASSAY_GPU_CUDA) || defined(ASSAY_GPU_HIP)
#define ASSAY_HAS_GPU 1
#include "kernels/gpu/probe.h"
#endif

namespace assay::engine {

#if defined(ASSAY_HAS_GPU)
namespace {

class DeviceProbe final : public Probe {
 public:
  explicit DeviceProbe(int devices) : devices_(devices) {}
  double ReadBandwidth() override { return devices_ * kernels::gpu::ReadBandwidth(stream_, kMemory); }
  std::vector<Peak> Peaks() override {
    return {{"bf16 product", devices_ * kernels::gpu::MatmulRate(stream_, kSize)}};
  }

 private:
  static constexpr int64_t kMemory = int64_t{4} << 30, kSize = 8192;
  int devices_;
  kernels::gpu::Stream stream_;
};

}  // namespace

std::unique_ptr<Probe> MakeDeviceProbe(int devices) {
  return std::make_unique<DeviceProbe>(devices);
}

#else

std::unique_ptr<Probe> MakeDeviceProbe(int) {
  return nullptr;
}

#endif

}  // namespace assay::engine
