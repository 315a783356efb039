#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::runner {

enum class HardwareVendor { kNone, kNvidia, kAmd };

// What a config may name under `hardware`. A new kind of machine is one row in hardware_names.cc.
struct HardwareName {
  std::string name;  // cpu | h200 | gfx950 ...
  HardwareVendor vendor = HardwareVendor::kNone;
  std::string marker;                 // NVIDIA: the word in the device name that means this kind
  std::vector<std::string> products;  // what sellers, and files of others, call it
};

const std::vector<HardwareName>& HardwareNames();
const HardwareName* FindHardware(std::string_view name);  // null: none of that name

}  // namespace assay::runner
