#include "runner/launch/kill_evidence.h"

#include <gtest/gtest.h>

namespace assay::runner {
namespace {

TEST(ParseOomKills, ReadsBothGenerationsOfControlGroups) {
  EXPECT_EQ(ParseOomKills("low 0\nhigh 0\nmax 21\noom 3\noom_kill 2\noom_group_kill 0\n"), 2);
  EXPECT_EQ(ParseOomKills("oom_kill_disable 0\nunder_oom 0\noom_kill 5\n"), 5);
  EXPECT_EQ(ParseOomKills("low 0\n"), std::nullopt);
  EXPECT_EQ(ParseOomKills(""), std::nullopt);
}

TEST(IsKernelLineAbout, WantsTheWholeNumber) {
  EXPECT_TRUE(IsKernelLineAbout("Out of memory: Killed process 471 (python3) total-vm:1kB", 471));
  EXPECT_FALSE(IsKernelLineAbout("Out of memory: Killed process 4711 (python3) total-vm:1kB", 471));
  EXPECT_TRUE(IsKernelLineAbout("NVRM: Xid (PCI:0000:3b:00): 31, pid=471, name=x, Ch 8", 471));
  EXPECT_FALSE(IsKernelLineAbout("NVRM: Xid (PCI:0000:3b:00): 31, pid=4711, name=x, Ch 8", 471));
  EXPECT_FALSE(IsKernelLineAbout("audit: pid=471, uid=0", 471));
}

}  // namespace
}  // namespace assay::runner
