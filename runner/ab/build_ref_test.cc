#include "runner/ab/build_ref.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/text.h"
#include "testing/git_repository.h"

namespace assay::runner {
namespace {

using ::testing::HasSubstr;

// Two commits whose build copies a file that differs; the third does not build.
class BuildRefTest : public ::testing::Test {
 protected:
  BuildRefTest() {
    repository_.Commit("engine.sh", "#!/bin/sh\necho one\n");
    repository_.Git("tag one");
    repository_.Commit("engine.sh", "#!/bin/sh\necho two\n");
  }

  BuildPlan Plan(const std::string& ref) const {
    return {.repository = repository_.path(),
            .ref = ref,
            .folder = out_ / "work" / ref,
            .command = "mkdir -p bin && cp engine.sh bin/engine && chmod +x bin/engine && echo built",
            .program = "bin/engine",
            .log_file = out_ / (ref + ".build.log")};
  }
  // The main checkout alone.
  bool OnlyTheCheckoutIsLeft() const {
    const Path list = out_ / "list";
    repository_.Git("worktree list > " + list.string());
    return SplitLines(ReadFile(list).value()).size() == 1 && !std::filesystem::exists(out_ / "work" / "main");
  }

  testing::GitRepository repository_;
  testing::TempDir folder_;
  Path out_ = folder_.path();
  std::atomic<bool> interrupted_{false};
};

TEST_F(BuildRefTest, BuildsTheCommitAskedForAndLeavesTheCheckoutAlone) {
  {
    const auto one = BuildRef(Plan("one"), interrupted_);
    const auto two = BuildRef(Plan("main"), interrupted_);
    ASSERT_TRUE(one) << one.error().message;
    ASSERT_TRUE(two) << two.error().message;
    EXPECT_FALSE(one->failure);
    EXPECT_THAT(ReadFile(one->program).value(), HasSubstr("echo one"));
    EXPECT_THAT(ReadFile(two->program).value(), HasSubstr("echo two"));
    EXPECT_NE(one->commit, two->commit);
    EXPECT_THAT(ReadFile(out_ / "one.build.log").value(), HasSubstr("built"));
    EXPECT_FALSE(std::filesystem::exists(repository_.path() / "bin"));
  }
  EXPECT_TRUE(OnlyTheCheckoutIsLeft());
}

TEST_F(BuildRefTest, ACommitThatDoesNotBuildIsAResultWithTheEndOfItsLog) {
  BuildPlan plan = Plan("main");
  plan.command = "echo 'engine.cc:1: error'; exit 3";
  const auto build = BuildRef(plan, interrupted_);
  ASSERT_TRUE(build) << build.error().message;
  ASSERT_TRUE(build->failure);
  EXPECT_THAT(build->failure->message, HasSubstr("exit code 3"));
  EXPECT_THAT(build->failure->log_tail, ::testing::Contains("engine.cc:1: error"));
}

TEST_F(BuildRefTest, ABuildWithoutTheProgramIsAResultToo) {
  BuildPlan plan = Plan("main");
  plan.program = "bin/other";
  const auto build = BuildRef(plan, interrupted_);
  ASSERT_TRUE(build && build->failure);
  EXPECT_THAT(build->failure->message, HasSubstr("left no program bin/other"));
}

TEST_F(BuildRefTest, AnUnknownRefIsRefusedBeforeAnythingIsMade) {
  const auto build = BuildRef(Plan("mian"), interrupted_);
  ASSERT_FALSE(build);
  EXPECT_EQ(build.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(build.error().message, HasSubstr("mian: no such branch, tag or commit"));
  EXPECT_FALSE(std::filesystem::exists(out_ / "work"));
}

TEST_F(BuildRefTest, AnInterruptEndsTheBuildAndRemovesTheWorktree) {
  BuildPlan plan = Plan("main");
  plan.command = "echo begun; sleep 600 & sleep 600";
  std::thread ctrl_c([&] {
    const auto begun = [&] {
      return ReadFile(plan.log_file).value_or("").find("begun") != std::string::npos;
    };
    while (!begun()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    interrupted_ = true;
  });
  const auto build = BuildRef(plan, interrupted_);
  ctrl_c.join();
  ASSERT_FALSE(build);
  EXPECT_EQ(build.error().kind, ErrorKind::kInterrupted);
  EXPECT_TRUE(OnlyTheCheckoutIsLeft());
}

TEST_F(BuildRefTest, WhatAKilledProcessLeftIsRemovedAndWhatALivingOneHasIsNot) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto left = BuildRef(Plan("one"), interrupted_);
    ::_exit(left ? 0 : 1);  // without a destructor, as by SIGKILL
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(std::filesystem::exists(out_ / "work" / "one"));
  {
    const auto living = BuildRef(Plan("main"), interrupted_);
    ASSERT_TRUE(living);
    EXPECT_THAT(RemoveAbandonedWorktrees(repository_.path()),
                ::testing::ElementsAre(std::filesystem::canonical(out_) / "work" / "one"));
    EXPECT_TRUE(std::filesystem::exists(living->program));
    EXPECT_FALSE(std::filesystem::exists(out_ / "work" / "one"));
  }
  EXPECT_TRUE(OnlyTheCheckoutIsLeft());
}

TEST(ProgramWithinCheckout, IsWhatTheConfigStartsSeenFromTheTop) {
  const struct {
    const char* name;
    EngineKind kind;
    std::string program, expected;
  } cases[] = {
      {"default", EngineKind::kBundled, "", "build/release/bin/assay-engine"},
      {"from the top", EngineKind::kBundled, "out/engine", "out/engine"},
      {"from the config", EngineKind::kBundled, "../../out/engine", "out/engine"},
      {"absolute", EngineKind::kBundled, "/src/out/engine", "out/engine"},
      {"outside", EngineKind::kBundled, "/opt/engine", ""},
      {"command", EngineKind::kCommand, "./server", "configs/cpu/server"},
      {"by PATH", EngineKind::kCommand, "vllm", ""},
  };
  for (const auto& c : cases) {
    Config config;
    config.file = "/src/configs/cpu/a.yaml";
    config.engine.kind = c.kind;
    config.engine.argv = {c.program};
    config.engine.binary = c.program;
    const auto program = ProgramWithinCheckout(config, "/src");
    EXPECT_EQ(program.value_or(""), c.expected) << c.name;
    EXPECT_THAT(program ? "--binary" : program.error().message, HasSubstr("--binary")) << c.name;
  }
}

}  // namespace
}  // namespace assay::runner
