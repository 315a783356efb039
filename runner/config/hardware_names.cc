#include "runner/config/hardware_names.h"

namespace assay::runner {

const std::vector<HardwareName>& HardwareNames() {
  using enum HardwareVendor;
  static const std::vector<HardwareName> names = {
      {"cpu", kNone, ""},   {"h100", kNvidia, "H100"}, {"h200", kNvidia, "H200"}, {"b200", kNvidia, "B200"},
      {"gfx90a", kAmd, ""}, {"gfx942", kAmd, ""},      {"gfx950", kAmd, ""},      {"gfx1250", kAmd, ""},
  };
  return names;
}

}  // namespace assay::runner
