#include "engine/scheduler/padding.h"

#include <gtest/gtest.h>

namespace assay::engine {
namespace {

TEST(PaddedRows, RoundsUpToACapturedSize) {
  const struct {
    const char* name;
    int64_t rows, limit, padded;
  } rows[] = {
      {"one", 1, 512, 1},
      {"three", 3, 512, 4},
      {"five", 5, 512, 8},
      {"nine", 9, 512, 16},
      {"below 256", 249, 512, 256},
      {"from 256 in 16s", 257, 512, 272},
      {"the limit", 512, 512, 512},
      {"beyond: as it is", 513, 512, 513},
      {"between last size and limit: as it is", 99, 100, 99},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(PaddedRows(row.rows, CaptureSizes(row.limit)), row.padded);
  }
}

}  // namespace
}  // namespace assay::engine
