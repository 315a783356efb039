#pragma once

#include <string>

#include "base/file.h"

namespace assay::runner {

inline constexpr char kModified[] = " (modified)";

// The change under test, as git and CI name it.
struct Subject {
  std::string repository;  // without credentials
  std::string branch;      // with " (modified)" when the checkout differs from its commit: never a baseline
  std::string commit;
};

// From the checkout that holds `folder`. On a detached HEAD, as CI checks out, the branch is what the CI
// system's variable says; for a pull request it never says the target branch. Fields are empty where nothing
// is known.
Subject DetectSubject(const Path& folder);

}  // namespace assay::runner
