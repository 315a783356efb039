#pragma once

#include <cstdlib>
#include <string>

namespace assay::runner {

// A variable of the environment; "" where it is not set.
inline std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace assay::runner
