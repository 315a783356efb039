// What `assay ci`, `assay run --cell` and `assay merge` refuse, seen from outside; tests/fleet/dry_run.py has
// what they do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runner/cli/exit_code.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class FleetTest : public AssayTest {
 protected:
  FleetTest() { config_ = Write("config.yaml", Config({})); }
  void ExpectRefused(std::vector<std::string> arguments, const std::string& message) {
    EXPECT_EQ(Run(std::move(arguments)), runner::kExitUsage) << Out();
    EXPECT_THAT(Err(), HasSubstr(message));
    EXPECT_FALSE(Launched());
  }
  std::string config_;
};

TEST_F(FleetTest, AnUnknownCellIsAnsweredWithTheNearestAndNothingIsLaunched) {
  ExpectRefused({"run", config_, "--cell", "cpu.scriptd"}, "did you mean cpu.scripted?");
}

TEST_F(FleetTest, OneCellOfSeveralIsRun) {
  std::string other = Config({});
  other.replace(other.find("name: scripted"), 14, "name: other");
  Write("other.yaml", other);
  EXPECT_EQ(Run({"run", config_, (folder_ / "other.yaml").string(), "--cell", "cpu.other", "--dry-run"}), 0)
      << Err();
  EXPECT_THAT(Out(), HasSubstr("cell cpu.other\n"));
  EXPECT_THAT(Out(), ::testing::Not(HasSubstr("cell cpu.scripted\n")));
}

TEST_F(FleetTest, CiEmitSaysWhatIsWrong) {
  ExpectRefused({"ci"}, "emit is required");
  ExpectRefused({"ci", "run"}, "unknown command run");
  ExpectRefused({"ci", "emit", "--to", "jenkins", config_}, "the engines are buildkite, github");
  ExpectRefused({"ci", "emit", "--to", "slurm", config_}, "makes 4 files here; give --out DIR");
  ExpectRefused({"ci", "emit", "--to", "gitlab", "--partition", "x", config_},
                "--partition is for --to slurm");
  ExpectRefused({"ci", "emit", "--to", "gitlab", "nowhere.yaml"}, "nowhere.yaml");
}

TEST_F(FleetTest, CiEmitPrintsOneFileAndTheCells) {
  EXPECT_EQ(Run({"ci", "emit", "--to", "cells", "config.yaml"}), 0) << Err();
  EXPECT_EQ(Out(), "cpu.scripted\tcpu\t0\tconfig.yaml\t\n");
}

TEST_F(FleetTest, MergingOneRunSaysWhatTheRunSaid) {
  EXPECT_EQ(RunScene({.gpqa = "threshold: 0.9, tolerance: {kind: absolute, value: 0}"}), runner::kExitFail)
      << Err();
  const nlohmann::json said = ToJson(Verdict());
  EXPECT_EQ(Run({"merge", LastOut().string(), "--out", "merged"}), runner::kExitFail) << Err();
  const auto merged = record::ParseVerdict(*ReadFile(folder_ / "merged/verdict.json"), "verdict.json");
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(ToJson(*merged), said);
  for (const char* file :
       {"record.json", "report.md", "report.html", "junit.xml", "github.md", "buildkite.md"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "merged" / file)) << file;
}

TEST_F(FleetTest, MergeSaysWhatIsWrong) {
  ExpectRefused({"merge"}, "dir is required");
  ExpectRefused({"merge", "nowhere"}, "nowhere: is no folder");
  ExpectRefused({"merge", ".", "--expect", "nowhere.tsv"}, "--expect: nowhere.tsv");
  ExpectRefused({"merge", "."}, ".: holds no folder of a run");
}

}  // namespace
}  // namespace assay
