#include "runner/plan/engine_build.h"

#include <algorithm>

#include "base/text.h"
#include "runner/config/hardware_names.h"

namespace assay::runner {
namespace {

// "none", "cuda 90" or "hip gfx90a gfx942" as words; nothing where the engine does not say.
std::vector<std::string> BackendOf(const std::string& path, const Probe& probe) {
  constexpr std::string_view kBefore = "GPU backend: ";
  const std::string said = probe.run({path, "--version"}).value_or("");
  const size_t at = said.find(kBefore);
  if (at == std::string::npos) return {};
  return Split(Printable(Trim(std::string_view(said).substr(at + kBefore.size()))), ' ');
}

// "gfx942:xnack-" is gfx942 with a setting; what "gfx9-4-generic" runs on is the compiler's to know.
bool RunsOn(const std::string& architecture, const std::string& hardware) {
  return architecture.ends_with("-generic") || Split(architecture, ':').front() == hardware;
}

}  // namespace

Status CheckEngineBuild(const std::string& path, const std::string& hardware, const Probe& probe) {
  const HardwareName* known = FindHardware(hardware);
  if (known == nullptr || known->vendor == HardwareVendor::kNone) return {};
  const std::vector<std::string> backend = BackendOf(path, probe);
  if (backend.empty()) return {};
  const bool amd = known->vendor == HardwareVendor::kAmd;
  if (backend.front() == (amd ? "hip" : "cuda") &&
      (!amd || std::any_of(backend.begin() + 1, backend.end(),
                           [&](const std::string& word) { return RunsOn(word, hardware); })))
    return {};
  return Fail(
      ErrorKind::kUsage,
      "{} was built for {}, and not for {}; build one with cmake -DASSAY_GPU={} (docs/gpu.md), or name "
      "another one in engine.binary",
      path, backend.front() == "none" ? "the CPU alone" : Join(backend, " "), hardware,
      amd ? "hip -DASSAY_GPU_ARCHITECTURES=" + hardware : "cuda");
}

}  // namespace assay::runner
