#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace assay::testing {

// Compares with a file of the source tree; ASSAY_UPDATE_GOLDEN=1 writes it instead, for the diff to be read.
inline void ExpectGolden(const std::string& actual, const Path& file) {
  if (std::getenv("ASSAY_UPDATE_GOLDEN") != nullptr) {
    const Status made = MakeFolders(file.parent_path());
    ASSERT_TRUE(made) << made.error().message;
    const Status written = WriteFileAtomic(file, actual);
    ASSERT_TRUE(written) << written.error().message;
    return;
  }
  const Result<std::string> expected = ReadFile(file);
  ASSERT_TRUE(expected) << expected.error().message << "; write it with ASSAY_UPDATE_GOLDEN=1";
  if (actual == *expected) return;
  const std::vector<std::string> ours = SplitLines(actual), theirs = SplitLines(*expected);
  const auto [our_line, their_line] = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
  ADD_FAILURE() << file.string() << ":" << our_line - ours.begin() + 1
                << ": differs; ASSAY_UPDATE_GOLDEN=1 rewrites it\n"
                << "  file: " << (their_line == theirs.end() ? "(ends)" : *their_line) << "\n"
                << "  now:  " << (our_line == ours.end() ? "(ends)" : *our_line);
}

}  // namespace assay::testing
