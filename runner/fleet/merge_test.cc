#include "runner/fleet/merge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <random>

#include "base/text.h"
#include "runner/fleet/attempts.h"
#include "runner/run/judged_file.h"
#include "runner/run/run_folder.h"
#include "testing/example_run.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

using record::Check;
using record::Outcome;
using ::testing::HasSubstr;

// A cell of a fleet: `slowness` against baseline runs of these factors of time.
struct FleetScene {
  record::CellRecord cell = testing::ExampleCell();
  gate::CellPolicy policy;

  explicit FleetScene(const std::string& key, double slowness = 1,
                      const std::vector<double>& baseline = {1, 1.002, 0.998}) {
    cell.key = key;
    cell.accuracy->samples.resize(40);
    cell.accuracy->questions = 40;
    cell.serving = {testing::ExampleServing(20 * slowness, 5 * slowness)};
    policy = {key, {}, {"3 runs of main", testing::ExampleBaseline(baseline)}};
    for (record::CellRecord& earlier : policy.baseline.cells) earlier.accuracy = cell.accuracy;
    policy.policy.today = "2026-12-01";
  }
};

// What `assay run` leaves of these cells.
record::RunRecord RunOf(const std::vector<FleetScene>& scenes) {
  record::RunRecord run = testing::ExampleRun();
  run.cells.clear();
  for (const FleetScene& scene : scenes) run.cells.push_back(scene.cell);
  return run;
}

std::vector<gate::CellPolicy> PoliciesOf(const std::vector<FleetScene>& scenes) {
  std::vector<gate::CellPolicy> policies;
  for (const FleetScene& scene : scenes) policies.push_back(scene.policy);
  return policies;
}

void Leave(const Path& folder, const std::vector<FleetScene>& scenes, record::RunRecord run,
           const std::string& exit_code = "") {
  ASSERT_TRUE(MakeFolders(folder));
  JudgedRun judged{"main", {}};
  for (const FleetScene& scene : scenes)
    judged.cells.push_back(gate::JudgeAlone(scene.cell, scene.policy, run.created));
  ASSERT_TRUE(record::SaveRunRecord(run, folder / kRecordFile));
  ASSERT_TRUE(SaveJudgedRun(judged, folder / kJudgedFile));
  if (exit_code.empty()) return;
  ASSERT_TRUE(WriteFileAtomic(folder / "started", run.created + "\n"));
  ASSERT_TRUE(WriteFileAtomic(folder / "exit_code", exit_code + "\n"));
}

void Leave(const Path& folder, const std::vector<FleetScene>& scenes, const std::string& exit_code = "") {
  Leave(folder, scenes, RunOf(scenes), exit_code);
}

struct Outcomes {
  MergedRun merged;
  record::Verdict verdict;
  std::string error;
  std::optional<ErrorKind> kind;
};

Outcomes Merge(const MergeOptions& options) {
  Outcomes outcomes;
  Result<MergedRun> merged = MergeRuns(options);
  if (!merged) {
    outcomes.error = merged.error().message;
    outcomes.kind = merged.error().kind;
    return outcomes;
  }
  outcomes.verdict = gate::Conclude(merged->record, merged->cells);
  outcomes.merged = std::move(*merged);
  return outcomes;
}

const Check* Find(const record::Verdict& verdict, const std::string& cell, Outcome outcome) {
  for (const Check& check : verdict.checks) {
    if (check.cell == cell && check.outcome == outcome) return &check;
  }
  return nullptr;
}

// Speeds near the margin and baselines that vary, so that the family decides in some scenes and not in
// others.
std::vector<FleetScene> RandomScenes(std::mt19937& random) {
  std::uniform_real_distribution<double> slowness(1, 1.12), noise(-0.02, 0.02);
  std::vector<FleetScene> scenes;
  for (const char* key : {"cpu.a", "cpu.b", "cpu.c"}) {
    std::vector<double> baseline;
    for (int i = 0; i < 4; ++i) baseline.push_back(1 + noise(random));
    scenes.emplace_back(key, slowness(random), baseline);
  }
  return scenes;
}

TEST(MergeRuns, ConcludesOnManyRunsAsOnOneRunOfAllCells) {
  std::mt19937 random(7);
  int taken_back = 0, failed = 0;
  for (int i = 0; i < 60; ++i) {
    const std::vector<FleetScene> scenes = RandomScenes(random);
    const testing::TempDir folder;
    bool one_alone_failed = false;
    for (const FleetScene& scene : scenes) {
      Leave(folder / scene.cell.key, {scene});
      one_alone_failed |= gate::Judge(RunOf({scene}), {scene.policy}).exit_code == 1;
    }
    const record::Verdict together = gate::Judge(RunOf(scenes), PoliciesOf(scenes));
    const Outcomes merged = Merge({{folder.path()}, "", folder / "out", {}});
    ASSERT_EQ(merged.error, "");
    EXPECT_EQ(ToJson(merged.verdict), ToJson(together)) << "scene " << i;
    EXPECT_EQ(merged.merged.record.cells.size(), scenes.size());
    failed += together.exit_code == 1;
    taken_back += one_alone_failed && together.exit_code != 1;
  }
  EXPECT_GT(failed, 0) << "the scenes are to have some of each kind";
  EXPECT_GT(taken_back, 0) << "a FAIL alone that is none among the speeds of the fleet";
}

TEST(MergeRuns, TakesFoldersOfSeveralCellsToo) {
  const testing::TempDir folder;
  const std::vector<FleetScene> scenes = {FleetScene("cpu.a"), FleetScene("cpu.b", 1.3), FleetScene("cpu.c")};
  Leave(folder / "1", {scenes[0], scenes[1]});
  Leave(folder / "2", {scenes[2]});
  EXPECT_EQ(ToJson(Merge({{folder / "1", folder / "2"}, "", "", {}}).verdict),
            ToJson(gate::Judge(RunOf(scenes), PoliciesOf(scenes))));
}

TEST(MergeRuns, AppliesAcknowledgementsOfEveryCell) {
  const testing::TempDir folder;
  std::vector<FleetScene> scenes = {FleetScene("cpu.a"), FleetScene("cpu.b", 1.3)};
  for (const char* metric : {"output_throughput_tok_s", "ttft_p50_ms", "tpot_p50_ms"}) {
    scenes[1].policy.policy.acknowledgements.push_back({metric, "cpu.b", std::string("128x32.") + metric,
                                                        "kim", "new sampler", "2026-11-01T00:00:00Z",
                                                        "2026-12-31"});
  }
  for (const FleetScene& scene : scenes) Leave(folder / scene.cell.key, {scene});
  const Outcomes merged = Merge({{folder.path()}, "", "", {}});
  EXPECT_EQ(merged.verdict.exit_code, 0) << merged.verdict.headline;
  EXPECT_EQ(ToJson(merged.verdict), ToJson(gate::Judge(RunOf(scenes), PoliciesOf(scenes))));
}

// ---- what is not there

class Fleet : public ::testing::Test {
 protected:
  Fleet() {
    expect_ = folder_.Write("cells.tsv", "cpu.a\tcpu\t0\ta.yaml\tsmoke\ncpu.b\tcpu\t0\tb.yaml\tsmoke\n");
    Leave(folder_ / "out/cpu.a/attempt-1", {FleetScene("cpu.a")}, "0");
  }
  Outcomes Merged() const { return Merge({{folder_ / "out"}, expect_, folder_ / "report", {}}); }
  Path B(const std::string& attempt = "attempt-1") const { return folder_ / "out/cpu.b" / attempt; }

  // The exit code of the fleet, and that the reason for it names the folder and says `what`.
  void ExpectOfB(int exit_code, Outcome outcome, const std::string& what) {
    const Outcomes merged = Merged();
    ASSERT_EQ(merged.error, "");
    EXPECT_EQ(merged.verdict.exit_code, exit_code) << merged.verdict.headline;
    const Check* check = Find(merged.verdict, "cpu.b", outcome);
    ASSERT_NE(check, nullptr) << merged.verdict.headline;
    EXPECT_THAT(check->reason, HasSubstr(what));
    EXPECT_EQ(merged.merged.record.cells.size(), 2u) << "a cell that is missing is in the report";
  }

  testing::TempDir folder_;
  Path expect_;
};

TEST_F(Fleet, PassesWhenEveryCellIsThere) {
  Leave(B(), {FleetScene("cpu.b")}, "0");
  const Outcomes merged = Merged();
  EXPECT_EQ(merged.verdict.exit_code, 0) << merged.verdict.headline << merged.error;
  EXPECT_EQ(merged.merged.record.status, "complete");
  EXPECT_EQ(merged.merged.record.commit, testing::ExampleRun().commit);
  EXPECT_EQ(merged.merged.base_name, "main");
}

TEST_F(Fleet, CountsACellThatIsNotThereAsInfrastructure) {
  ExpectOfB(75, Outcome::kInfrastructure, "no folder of cpu.b is there: its job did not run");
}

TEST_F(Fleet, CountsEveryCellWhenNoJobLeftAnything) {
  const Outcomes merged = Merge({{folder_ / "nothing"}, expect_, "", {}});
  EXPECT_EQ(merged.verdict.exit_code, 75) << merged.error;
  EXPECT_EQ(merged.merged.record.cells.size(), 2u);
  EXPECT_EQ(merged.merged.record.cells[1].config_file, "b.yaml");
  EXPECT_EQ(merged.merged.record.cells[1].suite, "smoke");
}

TEST_F(Fleet, FailsRatherThanAskingForARetryWhenACellFails) {
  Leave(
      folder_ / "out/cpu.a/attempt-2", {FleetScene("cpu.a", 1.5)},
      [] {
        record::RunRecord run = RunOf({FleetScene("cpu.a", 1.5)});
        run.created = "2026-11-30T16:00:00Z";
        return run;
      }(),
      "1");
  EXPECT_EQ(Merged().verdict.exit_code, 1);
}

TEST_F(Fleet, CountsAJobThatWasKilledAsInfrastructure) {
  Leave(B(), {FleetScene("cpu.b")}, "0");
  std::filesystem::remove(B() / "exit_code");
  ExpectOfB(75, Outcome::kInfrastructure, "has no exit_code");
  ASSERT_TRUE(WriteFileAtomic(B() / "job_state", "NODE_FAIL on n7\n"));
  ExpectOfB(75, Outcome::kInfrastructure, "has no exit_code: its job ended as NODE_FAIL on n7");
}

TEST_F(Fleet, CountsAJobThatItsSchedulerEndedAsInfrastructure) {
  record::RunRecord run = RunOf({FleetScene("cpu.b")});
  run.status = "interrupted";  // assay was told first
  Leave(B(), {FleetScene("cpu.b")}, run, "130");
  std::filesystem::remove(B() / "exit_code");
  ExpectOfB(75, Outcome::kInfrastructure, "has no exit_code");
}

TEST_F(Fleet, CountsARunThatDidNotReachItsEndAsInfrastructure) {
  record::RunRecord run = RunOf({FleetScene("cpu.b")});
  run.status = "running";
  Leave(B(), {FleetScene("cpu.b")}, run, "137");
  ExpectOfB(75, Outcome::kInfrastructure, "did not reach its end");
}

TEST_F(Fleet, NamesADamagedFolderAndCountsItAsInfrastructure) {
  Leave(B(), {FleetScene("cpu.b")}, "0");
  ASSERT_TRUE(WriteFileAtomic(B() / kRecordFile, "{\"schema\": \"assay/re"));
  ExpectOfB(75, Outcome::kInfrastructure, B().string() + ": the record is damaged");
  Leave(B(), {FleetScene("cpu.b")}, "0");
  ASSERT_TRUE(WriteFileAtomic(B() / kJudgedFile, "[]"));
  ExpectOfB(75, Outcome::kInfrastructure, "judged.json is damaged");
  Leave(B(), {FleetScene("cpu.b")}, "0");
  Leave(folder_ / "other", {FleetScene("cpu.a")});
  std::filesystem::copy_file(folder_ / "other" / kJudgedFile, B() / kJudgedFile,
                             std::filesystem::copy_options::overwrite_existing);
  ExpectOfB(75, Outcome::kInfrastructure, "of other cells");
}

// Its exit code says that something went wrong after the verdict was written.
TEST_F(Fleet, DoesNotPassACellWhoseExitCodeIsNotItsVerdicts) {
  Leave(B(), {FleetScene("cpu.b")}, "75");
  ExpectOfB(75, Outcome::kInfrastructure, "ended with exit code 75, its verdict with 0");
}

TEST_F(Fleet, TakesTheExitCodeOfARunThatMeasuredNothing) {
  ASSERT_TRUE(MakeFolders(B()));
  ASSERT_TRUE(WriteFileAtomic(B() / "started", "2026-11-30T15:00:00Z\n"));
  const auto ended = [&](const std::string& code) { ASSERT_TRUE(WriteFileAtomic(B() / "exit_code", code)); };
  ended("4\n");
  ExpectOfB(4, Outcome::kInvalid, "wrong hardware or no baseline");
  ended("2\n");
  ExpectOfB(4, Outcome::kInvalid, "usage or config error");
  ended("75\n");
  ExpectOfB(75, Outcome::kInfrastructure, "exit code 75 and left no record");
  ended("0\n");
  ExpectOfB(75, Outcome::kInfrastructure, "exit code 0 and left no record");
  ended("130\n");
  EXPECT_EQ(Merged().verdict.exit_code, 130);
  ended("nonsense");
  ExpectOfB(75, Outcome::kInfrastructure, "exit_code holds no number");
}

TEST_F(Fleet, IsInterruptedWhenACellWas) {
  record::RunRecord run = RunOf({FleetScene("cpu.b")});
  run.status = "interrupted";
  Leave(B(), {FleetScene("cpu.b")}, run, "130");
  EXPECT_EQ(Merged().verdict.exit_code, 130);
}

// A disk that was full when the job ended says nothing of how it ended.
TEST_F(Fleet, DoesNotPassACellWhoseExitCodeCannotBeRead) {
  for (const char* text : {"", "\n", "nonsense", "0x", "0 0", "99999999999999999999"}) {
    Leave(B(), {FleetScene("cpu.b")}, "0");
    ASSERT_TRUE(WriteFileAtomic(B() / "exit_code", text));
    ExpectOfB(75, Outcome::kInfrastructure, B().string() + ": exit_code holds no number");
  }
  std::filesystem::remove(B() / "exit_code");
  std::filesystem::create_directory(B() / "exit_code");
  ExpectOfB(75, Outcome::kInfrastructure, "exit_code holds no number");
}

// ---- where runs are looked for

TEST_F(Fleet, FindsRunsBelowTheFolderOfARun) {
  Leave(folder_ / "out/cpu.a", {FleetScene("cpu.a")});  // somebody ran it by hand, above the job's attempts
  Leave(folder_ / "out/cpu.a/attempt-1/again/cpu.b", {FleetScene("cpu.b", 1.5)}, "1");
  const Outcomes merged = Merged();
  EXPECT_EQ(merged.verdict.exit_code, 1) << merged.verdict.headline << merged.error;
  EXPECT_NE(Find(merged.verdict, "cpu.b", Outcome::kFail), nullptr);
}

TEST_F(Fleet, FindsRunsBelowAReportAndNotTheReport) {
  record::RunRecord report = RunOf({FleetScene("cpu.a", 2), FleetScene("cpu.b", 2)});
  report.command = {"assay", "merge", "somewhere"};
  report.created = "2027-01-01T00:00:00Z";
  Leave(folder_ / "out", {FleetScene("cpu.a", 2), FleetScene("cpu.b", 2)}, report);
  Leave(B(), {FleetScene("cpu.b")}, "0");
  const Outcomes merged = Merged();
  EXPECT_EQ(merged.verdict.exit_code, 0) << merged.verdict.headline << merged.error;
  EXPECT_EQ(merged.merged.record.cells.size(), 2u);
}

TEST_F(Fleet, FollowsNoLinksAndCountsNoFolderTwice) {
  Leave(B(), {FleetScene("cpu.b")}, "0");
  std::filesystem::create_directory_symlink(folder_ / "out", folder_ / "out/cpu.b/loop");
  std::filesystem::create_directory_symlink(B(), folder_ / "out/cpu.b/latest");
  std::filesystem::create_directory_symlink(folder_ / "out", folder_ / "results");
  const std::vector<Path> through_link = {folder_ / "results"},
                          overlapping = {folder_ / "out", folder_ / "out/cpu.b", folder_ / "results"};
  for (const auto& folders : {through_link, overlapping}) {
    const auto found = FindRunFolders(folders, "");
    ASSERT_TRUE(found) << found.error().message;
    const Path top = folders.front();
    EXPECT_EQ(*found, (std::vector<Path>{top / "cpu.a/attempt-1", top / "cpu.b/attempt-1"}));
  }
}

TEST_F(Fleet, NamesAFolderThatCannotBeRead) {
  Leave(B(), {FleetScene("cpu.b")}, "0");
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
  std::filesystem::permissions(folder_ / "out/cpu.b", std::filesystem::perms::none);
  const bool root = ::geteuid() == 0;  // who can read everything
  ASSERT_EQ(root ? ::seteuid(65534) : 0, 0);
  const Outcomes merged = Merged();
  ASSERT_EQ(root ? ::seteuid(0) : 0, 0);
  std::filesystem::permissions(folder_ / "out/cpu.b", std::filesystem::perms{0755});
  EXPECT_EQ(merged.kind, ErrorKind::kInfrastructure);
  EXPECT_THAT(merged.error,
              HasSubstr((folder_ / "out/cpu.b").string() + ": cannot be read (Permission denied)"));
}

TEST_F(Fleet, RefusesAnOutThatHoldsWhatIsMerged) {
  Leave(B(), {FleetScene("cpu.b")}, "0");
  std::filesystem::create_directory_symlink(folder_ / "out", folder_ / "results");
  const auto refusal = [&](const Path& out) {
    const Outcomes merged = Merge({{folder_ / "out"}, expect_, out, {}});
    EXPECT_EQ(merged.kind, ErrorKind::kUsage) << out;
    EXPECT_THAT(merged.error, HasSubstr("choose a folder that holds no runs, such as " +
                                        (folder_ / "out/report").string()));
    return merged.error;
  };
  for (const char* out : {"out", "out/", "out/../out", "results", "."})
    EXPECT_THAT(refusal(folder_ / out), HasSubstr("holds " + (folder_ / "out").string() + ", which")) << out;
  for (const char* out : {"out/cpu.b", "out/cpu.b/attempt-1", "results/cpu.b"})
    EXPECT_THAT(refusal(folder_ / out), HasSubstr("attempt-1, which would be left out")) << out;
}

TEST_F(Fleet, TakesAnOutBelowWhatIsMergedOrBesideIt) {
  Leave(B(), {FleetScene("cpu.b")}, "0");
  record::RunRecord report = RunOf({FleetScene("cpu.b", 2)});
  report.command = {"assay", "merge", "out"};
  Leave(folder_ / "out/report", {FleetScene("cpu.b", 2)}, report);  // an earlier one
  ASSERT_TRUE(MakeFolders(folder_ / "out/empty"));
  for (const char* out : {"out/report", "out/empty", "out/new", "output", "out-2/report"}) {
    const Outcomes merged = Merge({{folder_ / "out"}, expect_, folder_ / out, {}});
    EXPECT_EQ(merged.verdict.exit_code, 0) << out << merged.error;
  }
}

// ---- several attempts

TEST_F(Fleet, LetsTheNewestAttemptDecideAndSaysSo) {
  record::RunRecord lost = RunOf({FleetScene("cpu.b")});
  lost.status = "running";
  Leave(B("attempt-1"), {FleetScene("cpu.b")}, lost, "75");
  record::RunRecord again = RunOf({FleetScene("cpu.b")});
  again.created = "2026-11-30T17:00:00Z";
  Leave(B("attempt-2"), {FleetScene("cpu.b")}, again, "0");
  const Outcomes merged = Merged();
  EXPECT_EQ(merged.verdict.exit_code, 0) << merged.verdict.headline;
  const auto note = std::find_if(merged.verdict.notes.begin(), merged.verdict.notes.end(),
                                 [](const auto& each) { return each.kind == "attempts"; });
  ASSERT_NE(note, merged.verdict.notes.end());
  EXPECT_THAT(note->text, HasSubstr("2 attempts; the newest decides: " + B("attempt-2").string()));
}

TEST_F(Fleet, DoesNotHideANewerAttemptThatIsDamagedBehindAnOlderOne) {
  Leave(B("attempt-1"), {FleetScene("cpu.b")}, "0");
  ASSERT_TRUE(MakeFolders(B("attempt-2")));
  ASSERT_TRUE(WriteFileAtomic(B("attempt-2") / kRecordFile, "half"));
  ExpectOfB(75, Outcome::kInfrastructure, B("attempt-2").string());
}

// ---- what is of another fleet

TEST_F(Fleet, RefusesACellThatNobodyExpects) {
  Leave(folder_ / "out/cpu.c/attempt-1", {FleetScene("cpu.c")}, "0");
  const Outcomes merged = Merged();
  EXPECT_EQ(merged.kind, ErrorKind::kUsage);
  EXPECT_THAT(merged.error, HasSubstr("holds the cell cpu.c, which " + expect_.string() + " does not list"));
}

TEST_F(Fleet, RefusesCellsOfDifferentCommits) {
  record::RunRecord other = RunOf({FleetScene("cpu.b")});
  other.commit = std::string(40, '9');
  Leave(B(), {FleetScene("cpu.b")}, other, "0");
  const Outcomes merged = Merged();
  EXPECT_EQ(merged.kind, ErrorKind::kInvalid);
  EXPECT_THAT(merged.error, HasSubstr("measured commit 9999"));
}

// GitLab's token is another in every job; one machine clones with ssh.
TEST_F(Fleet, MergesCellsOfOneRepositoryHoweverItWasCloned) {
  const auto measured = [](const char* key, const char* repository) {
    record::RunRecord run = RunOf({FleetScene(key)});
    run.repository = repository;
    return run;
  };
  const char* of_a = "https://gitlab-ci-token:glcbt-1_secret@gitlab.example/team/server.git";
  Leave(folder_ / "out/cpu.a/attempt-1", {FleetScene("cpu.a")}, measured("cpu.a", of_a), "0");
  for (const char* same : {"https://gitlab-ci-token:glcbt-2_other@gitlab.example/team/server.git",
                           "https://gitlab.example/team/server", "git@gitlab.example:team/server.git"}) {
    Leave(B(), {FleetScene("cpu.b")}, measured("cpu.b", same), "0");
    const Outcomes merged = Merged();
    EXPECT_EQ(merged.verdict.exit_code, 0) << same << merged.error;
    EXPECT_EQ(merged.merged.record.repository, "https://(hidden)@gitlab.example/team/server.git");
  }
  Leave(B(), {FleetScene("cpu.b")}, measured("cpu.b", "https://me:secret@gitlab.example/fork/server.git"),
        "0");
  const Outcomes merged = Merged();
  EXPECT_EQ(merged.kind, ErrorKind::kInvalid);
  EXPECT_THAT(merged.error,
              HasSubstr("measured repository https://(hidden)@gitlab.example/fork/server.git, and the cells "
                        "before it https://(hidden)@gitlab.example/team/server.git"));
  EXPECT_THAT(merged.error, ::testing::Not(HasSubstr("secret")));
}

TEST_F(Fleet, LeavesMergedRunsOut) {
  Leave(B(), {FleetScene("cpu.b")}, "0");
  record::RunRecord merged = RunOf({FleetScene("cpu.b", 2)});
  merged.command = {"assay", "merge", "out"};
  merged.created = "2027-01-01T00:00:00Z";
  Leave(folder_ / "out/report", {FleetScene("cpu.b", 2)}, merged);
  EXPECT_EQ(Merged().verdict.exit_code, 0);
}

TEST_F(Fleet, RefusesATableThatIsNone) {
  const auto refusal = [&](const std::string& table) {
    return Merge({{folder_ / "out"}, folder_.Write("t.tsv", table), "", {}}).error;
  };
  EXPECT_THAT(refusal(""), HasSubstr("lists no cell"));
  EXPECT_THAT(refusal("cpu.a\tcpu\n\tcpu\n"), HasSubstr("t.tsv:2: begins with no cell key"));
  EXPECT_THAT(refusal("cpu.a\ncpu.a\n"), HasSubstr("t.tsv:2: cpu.a is there twice"));
  EXPECT_THAT(Merge({{folder_ / "nowhere"}, "", "", {}}).error, HasSubstr("is no folder"));
}

// ---- what a run leaves for it

TEST(JudgedFile, KeepsEveryNumberWhole) {
  const testing::TempDir folder;
  const FleetScene scene("cpu.a", 1.0123456789, {1, 1.01, 0.987654321});
  const JudgedRun before{"main", {gate::JudgeAlone(scene.cell, scene.policy, "2026-11-30T15:54:48Z")}};
  ASSERT_TRUE(SaveJudgedRun(before, folder / "judged.json"));
  const Result<JudgedRun> after = LoadJudgedRun(folder / "judged.json");
  ASSERT_TRUE(after) << after.error().message;
  ASSERT_EQ(after->cells[0].verdict.checks.size(), before.cells[0].verdict.checks.size());
  for (size_t i = 0; i < before.cells[0].verdict.checks.size(); ++i) {
    const Check& a = before.cells[0].verdict.checks[i];
    const Check& b = after->cells[0].verdict.checks[i];
    EXPECT_EQ(a.p_value, b.p_value) << a.metric;
    EXPECT_EQ(a.ci_low, b.ci_low) << a.metric;
    EXPECT_EQ(a.change, b.change) << a.metric;
  }
}

}  // namespace
}  // namespace assay::runner
