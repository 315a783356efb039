#pragma once

#include <string>
#include <string_view>

namespace assay::gate {

// Negative, zero or positive as `a` comes before, with or after `b`. Two versions that PEP 440 can read are
// ordered by it (0.1.20.dev3 < 0.1.20rc1 < 0.1.20 < 0.1.20+rocm7 < 0.1.20.post1); any others as Debian orders
// its packages (1.0~rc1 < 1.0 < 1.0-1 < 1.0-1+b1 < 1:0.9).
int CompareVersions(std::string_view a, std::string_view b);

// "aiter>=0.1.20": the name of what has a version, one of >= > <= < == !=, and the version to compare with.
struct VersionCondition {
  std::string name, comparison, version;
};

// False when `text` has not that form; `condition` is then unspecified.
bool ParseVersionCondition(std::string_view text, VersionCondition& condition);

bool Holds(const VersionCondition& condition, std::string_view version);

}  // namespace assay::gate
