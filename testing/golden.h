#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/file.h"

namespace assay::testing {

// Compares with a file of the source tree; ASSAY_UPDATE_GOLDEN=1 writes it instead, for the diff to be read.
inline void ExpectGolden(const std::string& actual, const Path& file) {
  if (std::getenv("ASSAY_UPDATE_GOLDEN") != nullptr) {
    const Status written = WriteFileAtomic(file, actual);
    ASSERT_TRUE(written) << written.error().message;
    return;
  }
  const Result<std::string> expected = ReadFile(file);
  ASSERT_TRUE(expected) << expected.error().message << "; write it with ASSAY_UPDATE_GOLDEN=1";
  EXPECT_EQ(actual, *expected) << file.string() << " is out of date; ASSAY_UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace assay::testing
