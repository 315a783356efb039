// The launcher against a server process with planted faults.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "evals/http/client.h"
#include "runner/launch/listening_sockets.h"
#include "runner/launch/process_family.h"
#include "runner/launch/server.h"
#include "runner/launch/watchdog.h"
#include "testing/scripted_server.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

using std::chrono::steady_clock;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::atomic<bool> kNotInterrupted{false};

bool IsAlive(pid_t pid) {
  const auto process = ReadProcess(pid);
  return process && !process->Ended();
}

// Waits for what must come soon; the limit only ends a failing test.
template <typename Condition>
bool Soon(const Condition& condition) {
  const auto give_up = steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (steady_clock::now() > give_up) return false;
    std::this_thread::yield();
  }
  return true;
}

class Launch : public ::testing::Test {
 protected:
  // A scripted server that announces its port, with these flags.
  LaunchPlan Plan(const std::vector<std::string>& flags = {}) {
    LaunchPlan plan;
    plan.argv = {ASSAY_BIN_DIR "/assay-scripted-server"};
    plan.argv.insert(plan.argv.end(), flags.begin(), flags.end());
    plan.model_id = "scripted";
    plan.announces_port = true;
    plan.ready_timeout_s = 20;
    plan.stop_timeout_s = 20;
    plan.log_file = folder_ / "server.log";
    return plan;
  }

  Server::Started Start(const LaunchPlan& plan) {
    auto started = Server::Start(plan, kNotInterrupted);
    EXPECT_TRUE(started) << started.error().message;
    return started ? std::move(*started) : Server::Started{};
  }

  record::ServerFailure Failure(const LaunchPlan& plan) {
    Server::Started started = Start(plan);
    EXPECT_FALSE(started.server);
    EXPECT_TRUE(started.failure);
    return started.failure.value_or(record::ServerFailure{});
  }

  std::unique_ptr<Server> Ready(const LaunchPlan& plan) {
    Server::Started started = Start(plan);
    EXPECT_TRUE(started.server) << (started.failure ? started.failure->message : "");
    return std::move(started.server);
  }

  std::string Log() const { return ReadFile(folder_ / "server.log").value_or(""); }

  // The number behind "pid": in the log's line of this event.
  pid_t LoggedPid(const std::string& event) const {
    for (const std::string& line : SplitLines(Log())) {
      const auto json = nlohmann::json::parse(line, nullptr, false);
      if (json.is_object() && json.value("event", "") == event) return json["pid"].get<pid_t>();
    }
    return -1;
  }

  const testing::TempDir folder_;
};

evals::HttpResult Complete(const Server& server) {
  evals::HttpRequest request;
  request.url = server.BaseUrl() + "/v1/completions";
  request.body = R"({"model":"scripted","prompt":"x"})";
  return evals::Fetch(request);
}

// ---- a server that comes up

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

// ---- a server that does not come up

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
  plan.ready_timeout_s = 2;
  const auto failure = Failure(plan);
  EXPECT_EQ(failure.kind, "never_ready");
  EXPECT_TRUE(failure.infrastructure);
  EXPECT_EQ(failure.message,
            "not ready after 2.0 s (engine.ready_timeout_s): GET /health: HTTP 503: not healthy");
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
  plan.ready_timeout_s = 2;
  const auto failure = Failure(plan);
  EXPECT_EQ(failure.kind, "never_ready");
  EXPECT_THAT(failure.message, HasSubstr("one token of scripted"));
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

// ---- stopping

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

// ---- the middle of an eval

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
        request, [&](std::string_view, TimePoint) { ++progress.tokens; },
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

// ---- our own death

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
