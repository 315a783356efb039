#include "runner/config/hardware_names.h"

namespace assay::runner {

const std::vector<HardwareName>& HardwareNames() {
  using enum HardwareVendor;
  static const std::vector<HardwareName> names = {
      {"cpu", kNone, "", {}},
      {"h100", kNvidia, "H100", {"H100"}},
      {"h200", kNvidia, "H200", {"H200"}},
      {"b200", kNvidia, "B200", {"B200"}},
      {"gfx90a", kAmd, "", {"MI210", "MI250", "MI250X"}},
      {"gfx942", kAmd, "", {"MI300A", "MI300X", "MI325X"}},
      {"gfx950", kAmd, "", {"MI350X", "MI355X"}},
      {"gfx1250", kAmd, "", {}},
  };
  return names;
}

const HardwareName* FindHardware(std::string_view name) {
  for (const HardwareName& known : HardwareNames()) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

}  // namespace assay::runner
