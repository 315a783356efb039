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

constexpr TimePoint kStart{std::chrono::seconds(1000)};

std::optional<std::string> Message(const std::string& text, const std::string& microseconds = "1000500000") {
  return KernelMessageAbout("6,339," + microseconds + ",-;" + text + "\n SUBSYSTEM=memory\n", 471, kStart);
}

TEST(KernelMessageAbout, WantsTheWholeNumber) {
  EXPECT_EQ(Message("Out of memory: Killed process 471 (python3) total-vm:1kB"),
            "kernel: Out of memory: Killed process 471 (python3) total-vm:1kB");
  EXPECT_FALSE(Message("Out of memory: Killed process 4711 (python3) total-vm:1kB"));
  EXPECT_TRUE(Message("NVRM: Xid (PCI:0000:3b:00): 31, pid=471, name=x, Ch 8"));
  EXPECT_FALSE(Message("NVRM: Xid (PCI:0000:3b:00): 31, pid=4711, name=x, Ch 8"));
  EXPECT_FALSE(Message("audit: pid=471, uid=0"));
}

TEST(KernelMessageAbout, LeavesOutAnEarlierProcessOfThatNumber) {
  EXPECT_FALSE(Message("Out of memory: Killed process 471 (python3)", "500000000"));
  EXPECT_FALSE(KernelMessageAbout("Killed process 471 (x)", 471, kStart));
}

}  // namespace
}  // namespace assay::runner
