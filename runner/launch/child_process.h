#pragma once

#include <sys/types.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::runner {

struct ChildOptions {
  std::vector<std::string> argv;           // argv[0] is looked up in PATH unless it has a slash
  std::map<std::string, std::string> env;  // added to ours
  std::FILE* in = nullptr;                 // null: /dev/null
  std::FILE* out = nullptr;
  std::FILE* err = nullptr;
  bool dies_with_us = true;
};

// Starts a program in a session and process group of its own, with the three standard descriptors and no
// other, no signal blocked or ignored. With `dies_with_us` the kernel kills it when the calling *thread*
// ends: call this on one that lives as long as the child may.
//
// The caller waits for the child with wait(2); nothing here does.
Result<pid_t> SpawnChild(const ChildOptions& options);

}  // namespace assay::runner
