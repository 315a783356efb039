// Stopping a server and all that it started, also when it is we who are killed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/faults/launch_fixture.h"

namespace assay::runner {
namespace {

using ::testing::IsEmpty;

TEST_F(Launch, KillsAServerThatIgnoresTerm) {
  LaunchPlan plan = Plan({"--ignore-term"});
  plan.stop_timeout_s = 0.2;
  const auto server = Ready(plan);
  ASSERT_TRUE(server);
  const pid_t pid = LoggedPid("ready");
  EXPECT_THAT(server->Stop(), IsEmpty());
  EXPECT_FALSE(IsAlive(pid));
}

TEST_F(Launch, KillsAChildThatStaysInTheGroup) {
  LaunchPlan plan = Plan({"--fork-child"});
  plan.stop_timeout_s = 0.2;
  const auto server = Ready(plan);
  ASSERT_TRUE(server);
  const pid_t child = LoggedPid("child");
  ASSERT_TRUE(IsAlive(child));
  EXPECT_THAT(server->Stop(), IsEmpty());
  EXPECT_FALSE(IsAlive(child));
}

TEST_F(Launch, KillsAChildThatLeftTheGroup) {
  LaunchPlan plan = Plan({"--fork-child-in-new-session"});
  plan.stop_timeout_s = 0.2;
  const auto server = Ready(plan);
  ASSERT_TRUE(server);
  const pid_t child = LoggedPid("child");
  ASSERT_TRUE(Soon([&] { return ReadProcess(child)->session == child; }));
  EXPECT_THAT(server->Stop(), IsEmpty());
  EXPECT_FALSE(IsAlive(child));
}

TEST_F(Launch, KillsAnOrphanThatItsDeadServerLeft) {
  LaunchPlan plan = Plan({"--fork-child-in-new-session", "--die-after-requests", "1"});
  plan.stop_timeout_s = 0.2;
  const auto server = Ready(plan);
  ASSERT_TRUE(server);
  const pid_t child = LoggedPid("child");
  Complete(*server);
  ASSERT_TRUE(Soon([&] { return server->Died("gpqa").has_value(); }));
  ASSERT_TRUE(IsAlive(child));
  EXPECT_THAT(server->Stop(), IsEmpty());
  EXPECT_FALSE(IsAlive(child));
}

TEST_F(Launch, CleansUpAfterAServerThatDidNotComeUp) {
  LaunchPlan plan = Plan({"--fork-child", "--exit-before-ready", "1"});
  plan.stop_timeout_s = 0.2;
  EXPECT_EQ(Failure(plan).kind, "died_before_ready");
  EXPECT_FALSE(IsAlive(LoggedPid("child")));
}

TEST_F(Launch, StopsWhatIsDestroyed) {
  pid_t pid = -1;
  {
    const auto server = Ready(Plan());
    pid = LoggedPid("ready");
    ASSERT_TRUE(IsAlive(pid));
  }
  EXPECT_FALSE(IsAlive(pid));
}

TEST_F(Launch, LeavesOtherServersAlone) {
  const auto one = Ready(Plan());
  LaunchPlan plan = Plan();
  plan.log_file = folder_ / "other.log";
  const auto other = Ready(plan);
  ASSERT_TRUE(one && other);
  EXPECT_THAT(one->Stop(), IsEmpty());
  EXPECT_TRUE(Complete(*other).ok());
}

TEST_F(Launch, OutlivesTheThreadThatStartedIt) {
  std::unique_ptr<Server> server;
  std::thread([&] { server = Ready(Plan()); }).join();
  ASSERT_TRUE(server);
  EXPECT_TRUE(Complete(*server).ok());
  EXPECT_FALSE(server->Died("gpqa"));
}

// Runs `start` in a process of its own that then waits to be killed.
template <typename Start>
pid_t InAnotherProcess(const Start& start) {
  const pid_t other = ::fork();
  if (other != 0) return other;
  start();
  for (;;) ::pause();
}

void KillAndWait(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST_F(Launch, LeavesNothingInTheGroupWhenWeAreKilled) {
  const pid_t us = InAnotherProcess([&] {
    const auto started = Server::Start(Plan({"--fork-child", "--ignore-term"}), kNotInterrupted);
    std::ofstream(folder_ / "started") << (started && started->server ? "yes" : "no");
    for (;;) ::pause();
  });
  ASSERT_TRUE(Soon([&] { return ReadFile(folder_ / "started").value_or("") == "yes"; })) << Log();
  const pid_t server = LoggedPid("ready"), child = LoggedPid("child");
  ASSERT_TRUE(IsAlive(server) && IsAlive(child));
  KillAndWait(us);
  EXPECT_TRUE(Soon([&] { return !IsAlive(server) && !IsAlive(child); }));
}

TEST_F(Launch, LeavesNothingWhenWeAreKilledBeforeItIsReady) {
  const pid_t us = InAnotherProcess([&] {
    static_cast<void>(Server::Start(Plan({"--fork-child", "--health-status", "503"}), kNotInterrupted));
  });
  ASSERT_TRUE(Soon([&] { return LoggedPid("ready") > 0; })) << Log();
  const pid_t server = LoggedPid("ready"), child = LoggedPid("child");
  KillAndWait(us);
  EXPECT_TRUE(Soon([&] { return !IsAlive(server) && !IsAlive(child); }));
}

}  // namespace
}  // namespace assay::runner
