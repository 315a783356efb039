#include "runner/launch/exit_status.h"

#include <gtest/gtest.h>

#include <csignal>

namespace assay::runner {
namespace {

TEST(DescribeExit, SpeaksOfCodesSignalsAndShells) {
  EXPECT_EQ(DescribeExit(0), "exit code 0");
  EXPECT_EQ(DescribeExit(3 << 8), "exit code 3");
  EXPECT_EQ(DescribeExit(SIGSEGV), "signal 11 (Segmentation fault)");
  EXPECT_EQ(DescribeExit(SIGSEGV | 0x80), "signal 11 (Segmentation fault)");  // with a core
  EXPECT_EQ(DescribeExit(137 << 8), "exit code 137 (128 + signal 9, Killed)");
  EXPECT_EQ(DescribeExit(255 << 8), "exit code 255");
  EXPECT_EQ(DescribeExit(128 << 8), "exit code 128");
}

TEST(DeathSignal, IsAbsentForAnOrdinaryExit) {
  EXPECT_EQ(DeathSignal(0), std::nullopt);
  EXPECT_EQ(DeathSignal(1 << 8), std::nullopt);
  EXPECT_EQ(DeathSignal(SIGKILL), SIGKILL);
  EXPECT_EQ(DeathSignal(134 << 8), SIGABRT);
}

}  // namespace
}  // namespace assay::runner
