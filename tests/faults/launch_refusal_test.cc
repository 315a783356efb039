// A server that does not come up, or that is not the one we want.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/scripted_server.h"
#include "tests/faults/launch_fixture.h"

namespace assay::runner {
namespace {

using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct EarlyDeath {
  const char* name;
  std::vector<std::string> flags;
  const char* kind;
  const char* exit;
  bool infrastructure;
};

class LaunchDeath : public Launch, public ::testing::WithParamInterface<EarlyDeath> {};

TEST_P(LaunchDeath, BeforeReadyIsSeenAtOnce) {
  const auto start = steady_clock::now();
  const record::ServerFailure failure = Failure(Plan(GetParam().flags));
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(10)) << "it waited for a dead server";
  EXPECT_EQ(failure.kind, GetParam().kind);
  EXPECT_EQ(failure.exit, GetParam().exit);
  EXPECT_EQ(failure.infrastructure, GetParam().infrastructure);
  EXPECT_EQ(failure.stage, "starting");
}

INSTANTIATE_TEST_SUITE_P(
    By, LaunchDeath,
    ::testing::Values(
        EarlyDeath{"exit_0", {"--exit-before-ready", "0"}, "died_before_ready", "exit code 0", true},
        EarlyDeath{"exit_1", {"--exit-before-ready", "1"}, "died_before_ready", "exit code 1", true},
        EarlyDeath{"exit_139",
                   {"--exit-before-ready", "139"},
                   "died_before_ready",
                   "exit code 139 (128 + signal 11, Segmentation fault)",
                   true},
        EarlyDeath{"signal_11",
                   {"--signal-before-ready", "11"},
                   "died_before_ready",
                   "signal 11 (Segmentation fault)",
                   true},
        EarlyDeath{"signal_9", {"--signal-before-ready", "9"}, "killed", "signal 9 (Killed)", true},
        EarlyDeath{"first_request", {"--die-after-requests", "0"}, "died_before_ready", "exit code 3", true},
        EarlyDeath{
            "bad_flag",
            {"--stderr-line", "vllm: error: unrecognized arguments: --foo", "--exit-before-ready", "2"},
            "bad_flag",
            "exit code 2",
            false},
        EarlyDeath{
            "tokenizer",
            {"--stderr-line", "unusable tokenizer: models/x: TokenizersBackend", "--exit-before-ready", "1"},
            "unusable_tokenizer",
            "exit code 1",
            false},
        EarlyDeath{
            "device_memory",
            {"--stderr-line", "torch.OutOfMemoryError: HIP out of memory.", "--exit-before-ready", "1"},
            "out_of_memory",
            "exit code 1",
            true}),
    [](const auto& test) { return test.param.name; });

TEST_F(Launch, ShowsTheLogOfADeath) {
  const auto failure =
      Failure(Plan({"--stderr-line", "first", "--stderr-line", "second", "--exit-before-ready", "1"}));
  EXPECT_THAT(failure.log_tail, ::testing::ElementsAre("first", "second"));
}

TEST_F(Launch, ReportsAProgramThatIsNotThere) {
  LaunchPlan plan = Plan();
  plan.argv[0] = "/no/such/engine";
  const auto failure = Failure(plan);
  EXPECT_EQ(failure.kind, "not_started");
  EXPECT_TRUE(failure.infrastructure);
  EXPECT_EQ(failure.message, "cannot start /no/such/engine: No such file or directory");
  plan.argv[0] = "no-such-engine-in-path";
  EXPECT_EQ(Failure(plan).message, "cannot start no-such-engine-in-path: No such file or directory");
  plan.argv[0] = folder_.path().string();
  EXPECT_EQ(Failure(plan).kind, "not_started");
}

TEST_F(Launch, AsksForAPlaceToPutThePort) {
  LaunchPlan plan = Plan();
  plan.announces_port = false;
  const auto started = Server::Start(plan, kNotInterrupted);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(started.error().message, HasSubstr("engine.argv has no {port}"));
}

TEST_F(Launch, GivesUpAtTheDeadlineAndNamesTheLastAnswer) {
  LaunchPlan plan = Plan({"--health-status", "503"});
  plan.ready_timeout_s = 3;
  const auto failure = Failure(plan);
  EXPECT_EQ(failure.kind, "never_ready");
  EXPECT_TRUE(failure.infrastructure);
  EXPECT_EQ(failure.message,
            "not ready after 3.0 s (engine.ready_timeout_s): GET /health: HTTP 503: not healthy");
}

TEST_F(Launch, GivesUpOnAServerThatNeverListens) {
  LaunchPlan plan = Plan({"--never-listen"});
  plan.ready_timeout_s = 0.3;
  const auto failure = Failure(plan);
  EXPECT_EQ(failure.kind, "never_ready");
  EXPECT_THAT(failure.message, HasSubstr("no ready line on its standard output"));
}

TEST_F(Launch, GivesUpOnAHealthyServerWithoutATokenEvenWhileItAsks) {
  LaunchPlan plan = Plan({"--hang-after-requests", "0"});
  plan.ready_timeout_s = 3;
  const auto failure = Failure(plan);
  EXPECT_EQ(failure.kind, "never_ready");
  EXPECT_THAT(failure.message, HasSubstr("POST /v1/completions: no answer yet"));
}

TEST_F(Launch, RefusesAnotherModelInTheList) {
  const auto failure = Failure(Plan({"--model", "other"}));
  EXPECT_EQ(failure.kind, "wrong_model");
  EXPECT_FALSE(failure.infrastructure);
  EXPECT_THAT(failure.message, HasSubstr("it serves other, not scripted"));
}

TEST_F(Launch, RefusesAnotherModelInTheAnswer) {
  EXPECT_EQ(Failure(Plan({"--answer-model", "other"})).kind, "wrong_model");
}

TEST_F(Launch, RefusesAForeignServerOnItsPort) {
  const auto foreign = testing::ScriptedServer::Start({});
  ASSERT_TRUE(foreign);
  LaunchPlan plan = Plan({"--never-listen"});
  plan.announces_port = false;
  plan.port = (*foreign)->Port();
  const auto failure = Failure(plan);
  EXPECT_EQ(failure.kind, "foreign_server");
  EXPECT_TRUE(failure.infrastructure);
  EXPECT_THAT(failure.message, HasSubstr("port " + std::to_string((*foreign)->Port())));
  EXPECT_THAT((*foreign)->RequestBodies(), IsEmpty()) << "it was asked for tokens";
}

TEST_F(Launch, RefusesAnAnnouncementOfSomebodyElsesPort) {
  const auto foreign = testing::ScriptedServer::Start({});
  ASSERT_TRUE(foreign);
  const auto port = std::to_string((*foreign)->Port());
  EXPECT_EQ(Failure(Plan({"--never-listen", "--announce-port", port})).kind, "foreign_server");
}

TEST_F(Launch, NamesAPortThatSomebodyTookInBetween) {
  const auto foreign = testing::ScriptedServer::Start({.health_status = 503});
  ASSERT_TRUE(foreign);
  LaunchPlan plan = Plan({"--port", std::to_string((*foreign)->Port())});
  plan.announces_port = false;
  plan.port = (*foreign)->Port();
  const auto failure = Failure(plan);
  EXPECT_EQ(failure.kind, "port_taken");
  EXPECT_TRUE(failure.infrastructure);
}

TEST_F(Launch, IsInterruptedWhileItWaits) {
  std::atomic<bool> interrupted{false};
  LaunchPlan plan = Plan({"--hang-after-requests", "0"});
  std::thread user([&] {
    EXPECT_TRUE(Soon([&] { return LoggedPid("ready") > 0; }));
    interrupted = true;
  });
  const auto started = Server::Start(plan, interrupted);
  user.join();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::kInterrupted);
  EXPECT_FALSE(IsAlive(LoggedPid("ready")));
}

}  // namespace
}  // namespace assay::runner
