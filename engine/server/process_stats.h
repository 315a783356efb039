#pragma once

#include <cstdint>

namespace assay::engine {

// This process as the operating system sees it.
struct ProcessStats {
  int64_t resident_bytes = 0, virtual_bytes = 0;
  double cpu_seconds = 0;  // user and system
  int64_t open_descriptors = 0;
};
ProcessStats ReadProcessStats();

}  // namespace assay::engine
