// `assay ab`: two arms as users name them, against servers whose faults the test chooses.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "base/text.h"
#include "record/arms.h"
#include "runner/cli/exit_code.h"
#include "testing/git_repository.h"
#include "testing/scripted_server.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

using record::Outcome;
using ::testing::HasSubstr;

// Twelve questions whose right letters are C D C B C C C D A C A D: C is right six times.
const std::string kMostlyRight = "--answer, \"Answer: C\"", kUnreadable = "--answer, \"I would not know\"";

class AbTest : public AssayTest {
 protected:
  // Speeds here are those of a scripted server on a busy machine: only gross losses may count.
  std::string AbConfig(const std::string& name, const std::string& server_flags) const {
    return Write(name + ".yaml",
                 ReplaceAll(Config({.server_flags = server_flags,
                                    .gate = "performance: {margin: 0.9}, baseline: {policy: none}"}),
                            "name: scripted", "name: " + name));
  }
  // A config whose server is a program within the checkout.
  std::string ConfigOfCheckout() const {
    std::string text = Config({.gate = "performance: {margin: 0.9}, baseline: {policy: none}"});
    return Write("checkout.yaml",
                 ReplaceAll(text, std::string(ASSAY_BIN_DIR) + "/assay-scripted-server", "bin/server"));
  }
  // A server program that is the scripted server with one more flag.
  static std::string ServerScript(const std::string& flags) {
    return fmt::format("#!/bin/sh\nexec {}/assay-scripted-server \"$@\" {}\n", ASSAY_BIN_DIR, flags);
  }
  std::vector<std::string> Ab(std::vector<std::string> arguments, const std::string& pairs) const {
    arguments.insert(arguments.begin(), "ab");
    arguments.insert(arguments.end(), {"--pairs", pairs, "--seed", "1", "--out", "out/ab"});
    return arguments;
  }
  std::vector<std::string> AbRefs(const std::string& base, const std::string& head,
                                  const std::string& pairs) const {
    return Ab({ConfigOfCheckout(), "--repository", repository_.path().string(), "--base", base, "--head",
               head, "--build", "sh build.sh"},
              pairs);
  }
  record::RunRecord AbRecord() const {
    auto record = record::LoadRunRecord(folder_ / "out/ab/record.json");
    EXPECT_TRUE(record) << (record ? "" : record.error().message) << Err();
    EXPECT_TRUE(record && record->ab);
    record::RunRecord kept = record ? std::move(*record) : record::RunRecord{};
    if (!kept.ab) kept.ab.emplace();
    return kept;
  }
  record::Verdict AbVerdict() const {
    auto verdict =
        record::ParseVerdict(ReadFile(folder_ / "out/ab/verdict.json").value_or("{}"), "verdict.json");
    EXPECT_TRUE(verdict) << Err();
    return verdict ? std::move(*verdict) : record::Verdict{};
  }
  Outcome AnswersOutcome() const {
    for (const record::Check& check : AbVerdict().checks)
      if (check.rule == "paired") return check.outcome;
    ADD_FAILURE() << "answers were not compared\n" << Out() << Err();
    return Outcome::kInvalid;
  }
  // A repository whose commits start and build as they say; tags are names for them.
  void CommitServer(
      const std::string& tag, const std::string& flags,
      const std::string& build = "mkdir -p bin && cp server bin/server && chmod +x bin/server\n") const {
    std::ofstream(repository_.path() / "server") << ServerScript(flags);
    repository_.Commit("build.sh", build + "# " + tag + "\n");
    repository_.Git("tag " + tag);
  }
  bool OnlyTheCheckoutIsLeft() const {
    const Path list = folder_ / "worktrees";
    repository_.Git("worktree list > " + list.string());
    return SplitLines(ReadFile(list).value()).size() == 1;
  }

  testing::GitRepository repository_;
};

TEST_F(AbTest, TwoEqualProgramsDoNotFail) {
  const std::string program = std::string(ASSAY_BIN_DIR) + "/assay-scripted-server";
  EXPECT_EQ(
      Run(Ab({AbConfig("same", kMostlyRight), "--base-binary", program, "--head-binary", program}, "4..4")),
      0)
      << Out() << Err();
  const record::RunRecord record = AbRecord();
  ASSERT_TRUE(record.ab);
  EXPECT_EQ(record.cells.size(), 8u);
  EXPECT_EQ(record.cells[0].fingerprint.engine_binary, record.cells[1].fingerprint.engine_binary);
  EXPECT_EQ(record.ab->runs[1].arm, record.ab->runs[2].arm);  // ABBA
  EXPECT_TRUE(std::filesystem::exists(folder_ / ("out/ab/runs/" + record.cells[0].key + ".json")));
  EXPECT_TRUE(std::filesystem::exists(folder_ / ("out/ab/" + record.cells[7].server.log_file)));
  EXPECT_THAT(ReadFile(folder_ / "out/ab/report.md").value(),
              HasSubstr("each on a server process of its own"));
  EXPECT_EQ(Run({"report", "out/ab"}), 0) << Err();
}

TEST_F(AbTest, WrongAnswersOfHeadFailQuestionByQuestionAndItsSpeedIsNoSpeed) {
  const std::vector<std::string> configs = {"--base-config", AbConfig("right", kMostlyRight), "--head-config",
                                            AbConfig("wrong", kUnreadable)};
  EXPECT_EQ(Run(Ab(configs, "2..2")), runner::kExitFail) << Out() << Err();
  EXPECT_EQ(AnswersOutcome(), Outcome::kFail);
  EXPECT_EQ(AbRecord().ab->ended, "decided");
  for (const record::Check& check : AbVerdict().checks)
    EXPECT_FALSE(check.primary && check.rule == "performance") << check.metric;
}

TEST_F(AbTest, GitRefsAreBuiltBesideTheCheckoutAndRemoved) {
  CommitServer("good", "--answer 'Answer: C'");
  CommitServer("bad", "--answer 'who knows'");
  EXPECT_EQ(Run(AbRefs("good", "bad", "2..2")), runner::kExitFail) << Out() << Err();
  EXPECT_EQ(AnswersOutcome(), Outcome::kFail);
  const record::RunRecord record = AbRecord();
  EXPECT_EQ(record.ab->base.what, "git good");
  EXPECT_EQ(record.ab->base.commit.size(), 40u);
  EXPECT_EQ(record.commit, record.ab->head.commit);
  EXPECT_THAT(record.cells[0].server.argv.front(), HasSubstr("out/ab/work/"));
  EXPECT_TRUE(OnlyTheCheckoutIsLeft());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out/ab/work/base"));
  EXPECT_FALSE(std::filesystem::exists(repository_.path() / "bin"));
}

TEST_F(AbTest, AHeadThatDoesNotBuildIsItsFaultAndABaseThatDoesNotIsNot) {
  CommitServer("good", "");
  CommitServer("broken", "", "echo 'server:1: error'; exit 2\n");
  EXPECT_EQ(Run(AbRefs("good", "broken", "2..2")), runner::kExitFail) << Out() << Err();
  EXPECT_THAT(ReadFile(folder_ / "out/ab/report.md").value(), HasSubstr("server:1: error"));
  std::filesystem::remove_all(folder_ / "out");
  EXPECT_EQ(Run(AbRefs("broken", "good", "2..2")), runner::kExitInvalid) << Out() << Err();
  EXPECT_TRUE(OnlyTheCheckoutIsLeft());
}

TEST_F(AbTest, AHeadThatDiesFailsAndABaseThatDiesLeavesNothingToCompare) {
  const std::string lives = AbConfig("lives", kMostlyRight),
                    dies = AbConfig("dies", "--die-after-requests, \"5\"");
  EXPECT_EQ(Run(Ab({"--base-config", lives, "--head-config", dies}, "2..2")), runner::kExitFail)
      << Out() << Err();
  std::filesystem::remove_all(folder_ / "out");
  EXPECT_EQ(Run(Ab({"--base-config", dies, "--head-config", lives}, "2..2")), runner::kExitInvalid)
      << Out() << Err();
  EXPECT_THAT(Out(), HasSubstr("nothing is said of head"));
}

TEST_F(AbTest, TwoServersThatRunAlreadyAreComparedAndLeftRunning) {
  const auto good =
      testing::ScriptedServer::Start({.model = model_, .token_interval_ms = 20, .answer = "Answer: C"});
  const auto bad = testing::ScriptedServer::Start({.model = model_, .token_interval_ms = 20, .answer = "?"});
  ASSERT_TRUE(good && bad);
  const std::vector<std::string> urls = {AbConfig("asked", ""), "--base-url", (*good)->BaseUrl() + "/v1",
                                         "--head-url", (*bad)->BaseUrl()};
  EXPECT_EQ(Run(Ab(urls, "2..2")), runner::kExitFail) << Out() << Err();
  EXPECT_EQ(AnswersOutcome(), Outcome::kFail);
  EXPECT_FALSE(AbRecord().ab->fresh_servers);
  EXPECT_THAT(ReadFile(folder_ / "out/ab/report.md").value(), HasSubstr("two servers that ran already"));
  EXPECT_FALSE((*good)->RequestBodies().empty());
}

TEST_F(AbTest, CtrlCKeepsWhatWasMeasuredAndRemovesTheWorktrees) {
  CommitServer("good", "");
  testing::Program run(Argv(AbRefs("good", "good", "4..8")), Env(), folder_.path().string());
  for (int i = 0; i < 4000 && !std::filesystem::exists(folder_ / "out/ab/runs") && run.Running(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  run.Signal(SIGINT);
  EXPECT_EQ(run.Wait(), runner::kExitInterrupted) << run.Err();
  const record::RunRecord record = AbRecord();
  EXPECT_EQ(record.status, "interrupted");
  EXPECT_GE(record.cells.size(), 1u);
  EXPECT_TRUE(record.cells[0].accuracy && record.cells[0].accuracy->complete);
  EXPECT_TRUE(OnlyTheCheckoutIsLeft());
}

TEST_F(AbTest, CtrlCDuringTheBuildEndsIt) {
  CommitServer("slow", "", "sleep 600\n");
  testing::Program run(Argv(AbRefs("slow", "slow", "4..8")), Env(), folder_.path().string());
  for (int i = 0; i < 4000 && !std::filesystem::exists(folder_ / "out/ab/work/base/server") && run.Running();
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  run.Signal(SIGINT);
  EXPECT_EQ(run.Wait(), runner::kExitInterrupted) << run.Err();
  EXPECT_TRUE(OnlyTheCheckoutIsLeft());
}

TEST_F(AbTest, WhatAKilledOneLeftIsRemovedByTheNext) {
  CommitServer("slow", "", "sleep 600\n");
  CommitServer("broken", "", "exit 2\n");
  testing::Program run(Argv(AbRefs("slow", "slow", "4..8")), Env(), folder_.path().string());
  for (int i = 0; i < 4000 && !std::filesystem::exists(folder_ / "out/ab/work/base/server") && run.Running();
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(run.pid(), SIGKILL);
  run.Wait();
  EXPECT_FALSE(OnlyTheCheckoutIsLeft());
  std::vector<std::string> next = AbRefs("broken", "broken", "4..8");
  next.back() = "out/next";
  EXPECT_EQ(Run(next), runner::kExitInvalid) << Out() << Err();
  EXPECT_THAT(Err(), HasSubstr("which a killed assay had left"));
  EXPECT_TRUE(OnlyTheCheckoutIsLeft());
}

TEST_F(AbTest, ADryRunSaysWhatWouldBeDoneAndDoesNothing) {
  CommitServer("good", "");
  std::vector<std::string> arguments = AbRefs("good", "good", "2..3");
  arguments.emplace_back("--dry-run");
  EXPECT_EQ(Run(arguments), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("built by `sh build.sh`, starts bin/server"));
  EXPECT_THAT(Out(), HasSubstr("looks after each pair from 2 to 3, seed 1"));
  EXPECT_FALSE(Launched());
}

TEST_F(AbTest, MistakesAreAnsweredBeforeAnythingIsLaunched) {
  CommitServer("good", "");
  const std::string config = AbConfig("a", ""), repository = repository_.path().string();
  const struct {
    std::vector<std::string> arguments;
    std::string message;
  } cases[] = {
      {{"ab", config}, "nothing to compare"},
      {{"ab", "--base", "good", "--repository", repository}, "config is required"},
      {{"ab", config, "--base-binary", "/bin/true"}, "--head-binary is missing beside --base-binary"},
      {{"ab", config, "--base", "good", "--base-url", "http://a", "--head-url", "http://b"},
       "both arms are named twice"},
      {{"ab", config, "--base-config", config, "--head-config", config}, "each arm has a config of its own"},
      {{"ab", ConfigOfCheckout(), "--base", "godo", "--repository", repository},
       "godo: no such branch, tag or commit"},
      {{"ab", config, "--base", "good", "--repository", repository}, "lies outside of"},
      {{"ab", config, "--base", "good", "--repository", "/"}, "is in no git checkout"},
      {{"ab", config, "--base", "good", "--pairs", "5..4"}, "--pairs: must be MIN..MAX"},
      {{"ab", config, "--base", "good", "--budget", "30"}, "--budget: must be a time such as 90s"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Run(c.arguments), runner::kExitUsage) << c.message << Err();
    EXPECT_THAT(Err(), HasSubstr(c.message));
    EXPECT_FALSE(Launched());
  }
}

}  // namespace
}  // namespace assay
