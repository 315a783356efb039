#include "runner/launch/process_family.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace assay::runner {
namespace {

TEST(ParseProcessStat, ReadsANameWithBlanksAndBrackets) {
  const auto process = ParseProcessStat("4711 (tmux: (a b) c) S 1 4700 4600 0 -1 4194560 1 2 3");
  ASSERT_TRUE(process);
  EXPECT_EQ(process->pid, 4711);
  EXPECT_EQ(process->name, "tmux: (a b) c");
  EXPECT_EQ(process->state, 'S');
  EXPECT_EQ(process->parent, 1);
  EXPECT_EQ(process->group, 4700);
  EXPECT_EQ(process->session, 4600);
  EXPECT_EQ(process->flags, 4194560u);
  EXPECT_FALSE(process->Exiting());
}

TEST(ParseProcessStat, KnowsADyingProcess) {
  const auto process = ParseProcessStat("7 (x) Z 1 7 7 0 -1 4227084 0 0 0");
  ASSERT_TRUE(process);
  EXPECT_TRUE(process->Ended());
  EXPECT_TRUE(process->Exiting());
}

TEST(ParseProcessStat, RefusesWhatIsNone) {
  EXPECT_FALSE(ParseProcessStat(""));
  EXPECT_FALSE(ParseProcessStat("7 (x) S"));
  EXPECT_FALSE(ParseProcessStat("x) 7 ("));
}

TEST(ParseAnonymousMemory, ReadsTheKernelsLine) {
  EXPECT_EQ(ParseAnonymousMemory("VmRSS:\t   9000 kB\nRssAnon:\t    4711 kB\nRssFile:\t 4289 kB\n"), 4711);
  EXPECT_EQ(ParseAnonymousMemory("VmRSS:\t   9000 kB\n"), std::nullopt);  // kernels before 4.5
}

TEST(ProcessFamily, HoldsTheMemoryThatItTouched) {
  ProcessFamily us(::getpid(), "ASSAY_TEST_MARK=none");
  const int64_t before = us.Memory().value_or(0);
  const std::vector<char> touched(64 << 20, 1);
  EXPECT_NEAR(static_cast<double>(us.Memory().value_or(0) - before), 64 << 20, 8 << 20) << touched.size();
}

TEST(ReadProcess, AgreesWithTheKernelAboutUs) {
  const auto us = ReadProcess(::getpid());
  ASSERT_TRUE(us);
  EXPECT_EQ(us->parent, ::getppid());
  EXPECT_EQ(us->group, ::getpgrp());
  EXPECT_EQ(us->session, ::getsid(0));
}

}  // namespace
}  // namespace assay::runner
