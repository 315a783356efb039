// A server that comes up.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "runner/launch/listening_sockets.h"
#include "tests/faults/launch_fixture.h"

namespace assay::runner {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(Launch, IsReadyWhenTheAnnouncedPortAnswersOneToken) {
  const auto server = Ready(Plan());
  ASSERT_TRUE(server);
  EXPECT_EQ(server->Announcement()["port"], server->Port());
  EXPECT_EQ(server->BaseUrl(), "http://127.0.0.1:" + std::to_string(server->Port()));
  EXPECT_FALSE(server->Died("gpqa"));
  EXPECT_TRUE(Complete(*server).ok());
  const pid_t pid = LoggedPid("ready");
  EXPECT_EQ(ReadProcess(pid)->group, pid);
  EXPECT_THAT(server->Stop(), IsEmpty());
  EXPECT_FALSE(IsAlive(pid));
  EXPECT_THAT(ListenersOn(server->Port()), IsEmpty());
  EXPECT_FALSE(server->Died("gpqa")) << "an end that we caused is not a death";
}

TEST_F(Launch, FillsAFreePortIntoTheArguments) {
  LaunchPlan plan = Plan({"--port", "{port}", "--stderr-line", "to the log"});
  plan.announces_port = false;
  const auto server = Ready(plan);
  ASSERT_TRUE(server);
  EXPECT_THAT(server->Argv(), Contains(std::to_string(server->Port())));
  EXPECT_TRUE(server->Announcement().is_null());
  EXPECT_THAT(Log(), HasSubstr("to the log\n"));
  EXPECT_THAT(Log(), HasSubstr("\"event\":\"ready\""));
}

TEST_F(Launch, WaitsForAServerThatIsLoading) {
  EXPECT_TRUE(Ready(Plan({"--unhealthy-answers", "3"})));
}

TEST_F(Launch, GivesTheServerItsEnvironmentAndNothingElseOfOurs) {
  const int leaked = ::dup(1);  // a descriptor that a child would inherit
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, nullptr);
  LaunchPlan plan = Plan();
  plan.env = {{"HIP_VISIBLE_DEVICES", "0,1"}, {"SWITCH", "true"}};
  const auto server = Ready(plan);
  ::pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
  ASSERT_TRUE(server);
  const std::string proc = "/proc/" + std::to_string(LoggedPid("ready"));
  const std::string environment = '\0' + *ReadFile(proc + "/environ");
  EXPECT_NE(environment.find(std::string("\0HIP_VISIBLE_DEVICES=0,1\0", 25)), std::string::npos);
  EXPECT_NE(environment.find(std::string("\0SWITCH=true\0", 13)), std::string::npos);
  EXPECT_NE(environment.find(std::string("\0PATH=", 6)), std::string::npos);
  std::error_code missing;
  const Path ours = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(leaked));
  const Path theirs = std::filesystem::read_symlink(proc + "/fd/" + std::to_string(leaked), missing);
  EXPECT_TRUE(missing || theirs != ours) << theirs;
  ::close(leaked);
  EXPECT_THAT(server->Stop(), IsEmpty());  // within stop_timeout_s only if TERM is not blocked in it
}

}  // namespace
}  // namespace assay::runner
