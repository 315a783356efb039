#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace assay::evals {

struct AcquireOptions {
  std::string from;     // a zip, a CSV or a folder, or the http(s) address of a zip or a CSV
  std::string variant;  // "": of a zip or a folder all that are there, of a CSV what its name says
  std::string sha256;   // of the file at `from`; "" takes any
  Path folder;          // where gpqa_<variant>.csv is written
};

struct AcquiredSet {
  std::string variant;
  int64_t questions = 0;
  std::string sha256;
  Path file;
};

// Reads published question sets, checks that each is whole (columns, rows, the number of questions it is
// published with), and stores them. Nothing is stored unless all are right.
Result<std::vector<AcquiredSet>> AcquireGpqa(const AcquireOptions& options);

}  // namespace assay::evals
