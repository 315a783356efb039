// A server that dies or hangs while it is being measured.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "runner/launch/watchdog.h"
#include "tests/faults/launch_fixture.h"

namespace assay::runner {
namespace {

using ::testing::AnyOf;
using ::testing::IsEmpty;

// Asks one request after the other until it is stopped or one fails.
void AskUntilStopped(const Server& server, evals::Progress& progress) {
  const auto client = evals::NewCurlClient();
  bool failed = false;
  while (!progress.stop && !failed) {
    evals::HttpRequest request;
    request.url = server.BaseUrl() + "/v1/completions";
    request.body = R"({"model":"scripted","prompt":"x","stream":true})";
    ++progress.in_flight;
    client->Start(
        request,
        [&](std::string_view, TimePoint) {
          ++progress.tokens;
          return true;
        },
        [&](const evals::HttpResult& result) {
          --progress.in_flight;
          ++progress.done;
          failed = !result.ok();
        });
    while (client->InFlight() > 0) {
      client->Poll(std::chrono::milliseconds(5));
      if (progress.stop) client->CancelAll("stopped");
    }
  }
}

std::optional<record::ServerFailure> Watch(Server& server, double hang_timeout_s) {
  evals::Progress progress;
  return RunWatched(server, progress, "gpqa", hang_timeout_s, kNotInterrupted, RealClock(),
                    [&] { AskUntilStopped(server, progress); });
}

struct LateDeath {
  const char* name;
  std::vector<std::string> flags;
  const char* kind;
  const char* exit;
  bool infrastructure;
};

class LaunchCrash : public Launch, public ::testing::WithParamInterface<LateDeath> {};

TEST_P(LaunchCrash, InTheMiddleIsAttributed) {
  const auto server = Ready(Plan(GetParam().flags));
  ASSERT_TRUE(server);
  const auto failure = Watch(*server, 20);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, GetParam().kind);
  EXPECT_EQ(failure->exit, GetParam().exit);
  EXPECT_EQ(failure->infrastructure, GetParam().infrastructure);
  EXPECT_EQ(failure->stage, "gpqa");
}

INSTANTIATE_TEST_SUITE_P(
    By, LaunchCrash,
    ::testing::Values(
        LateDeath{"exit_code", {"--die-after-requests", "4"}, "crashed", "exit code 3", false},
        LateDeath{
            "exit_0", {"--die-after-requests", "4", "--exit-code", "0"}, "crashed", "exit code 0", false},
        LateDeath{"signal",
                  {"--die-after-requests", "4", "--die-signal", "11"},
                  "crashed",
                  "signal 11 (Segmentation fault)",
                  false},
        LateDeath{"inside_a_stream",
                  {"--die-after-chunks", "20", "--die-signal", "6"},
                  "crashed",
                  "signal 6 (Aborted)",
                  false}),
    [](const auto& test) { return test.param.name; });

TEST_F(Launch, SurvivesTwentyKillsAtAnyMoment) {
  for (int round = 0; round < 20; ++round) {
    LaunchPlan plan = Plan({"--fork-child", "--token-interval-ms", "0.1"});
    plan.stop_timeout_s = 0.05;  // its child waits for KILL
    const auto server = Ready(plan);
    ASSERT_TRUE(server);
    const pid_t pid = server->Announcement()["pid"].get<pid_t>();
    const pid_t child = LoggedPid("child");
    evals::Progress progress;
    const auto failure = RunWatched(*server, progress, "gpqa", 20, kNotInterrupted, RealClock(), [&] {
      std::thread killer([&] {
        while (progress.tokens < 7 * round) std::this_thread::yield();
        ::kill(pid, SIGKILL);
      });
      AskUntilStopped(*server, progress);
      killer.join();
    });
    ASSERT_TRUE(failure) << "round " << round;
    EXPECT_THAT(failure->kind, AnyOf("killed", "out_of_memory"));
    EXPECT_EQ(failure->exit, "signal 9 (Killed)");
    EXPECT_TRUE(failure->infrastructure);
    EXPECT_THAT(server->Stop(), IsEmpty());
    EXPECT_FALSE(IsAlive(child));
    std::filesystem::remove(folder_ / "server.log");
  }
}

TEST_F(Launch, EndsAHang) {
  const auto server = Ready(Plan({"--hang-after-requests", "4"}));
  ASSERT_TRUE(server);
  const auto failure = Watch(*server, 0.3);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, "hang");
  EXPECT_FALSE(failure->infrastructure);
  EXPECT_TRUE(Soon([&] { return !IsAlive(LoggedPid("ready")); }));
  EXPECT_THAT(server->Stop(), IsEmpty());
}

}  // namespace
}  // namespace assay::runner
