#include "kernels/roofline/roofline.h"

#include <gtest/gtest.h>

namespace assay::kernels {
namespace {

TEST(Roofline, ReadsEveryByte) {
  std::vector<uint8_t> bytes(64 * 100);
  EXPECT_EQ(ReadAll(bytes), 0u);
  for (size_t at : {size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    bytes[at] = 1;
    EXPECT_NE(ReadAll(bytes), 0u) << at;
    bytes[at] = 0;
  }
}

TEST(Roofline, EveryMachineHasAPeak) {
  for (const PeakLoop& loop : PeakLoops()) {
    EXPECT_GT(loop.operations_a_round, 0) << loop.name;
    loop.run(10);
  }
  EXPECT_FALSE(PeakLoops().empty());
}

}  // namespace
}  // namespace assay::kernels
