#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "runner/fleet/fleet_test_support.h"
#include "runner/fleet/pipeline.h"
#include "testing/golden.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Keys(const Pipeline& pipeline) {
  std::vector<std::string> keys;
  for (const FleetCell& cell : pipeline.cells) keys.push_back(cell.key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<std::string> Sorted(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<std::string> FirstColumn(const std::string& table) {
  std::vector<std::string> keys;
  for (const std::string& line : SplitLines(table)) keys.push_back(Split(line, '\t').front());
  return keys;
}

std::vector<std::string> SplitAt(const std::string& text, const std::string& separator) {
  return Split(ReplaceAll(text, separator, "\x01"), '\x01');
}

const EmittedFile& File(const std::vector<EmittedFile>& files, const std::string& name) {
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const EmittedFile& file) { return file.name == name; });
  EXPECT_NE(found, files.end()) << name;
  return *found;
}

TEST(CiTargets, EmitTheGoldenFilesOfAnExample) {
  for (const CiTarget& target : CiTargets()) {
    for (const EmittedFile& file : target.emit(ExamplePipeline())) {
      testing::ExpectGolden(file.text,
                            Path(ASSAY_SOURCE_DIR) / "runner/fleet/golden" / target.name / file.name);
    }
  }
}

TEST(CiTargets, EmitTheSameBytesTwice) {
  for (const CiTarget& target : CiTargets()) {
    const auto first = target.emit(BigPipeline(600)), second = target.emit(BigPipeline(600));
    ASSERT_EQ(first.size(), second.size()) << target.name;
    for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].text, second[i].text) << first[i].name;
  }
}

TEST(CellsTable, IsReadAsItWasWritten) {
  const testing::TempDir folder;
  const std::vector<FleetCell> cells = ExamplePipeline().cells;
  const auto read = ReadCellsTable(folder.Write("cells.tsv", CellsTable(cells)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(CellsTable(*read), CellsTable(cells));
  EXPECT_EQ(read->at(1).gpus, 8);
}

TEST(GroupByMachine, KeepsTheOrderAndSplitsWhatIsTooMuch) {
  Pipeline pipeline = BigPipeline(5);
  pipeline.cells.insert(pipeline.cells.begin() + 1, {"cpu.a", "cpu", 0, "a.yaml"});
  const std::vector<CellGroup> groups = GroupByMachine(pipeline.cells, 2);
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].name, "gfx950-8-part-1");
  EXPECT_EQ(groups[2].name, "gfx950-8-part-3");
  EXPECT_EQ(groups[2].cells.size(), 1u);
  EXPECT_EQ(groups[3].name, "cpu");
}

// ---- limits: 600 cells of one machine, none lost and none twice

TEST(EmitBuildkite, UploadsAtMost500JobsAndOneReport) {
  const Pipeline pipeline = BigPipeline(600);
  const auto files = EmitBuildkite(pipeline);
  ASSERT_EQ(files.size(), 2u);
  std::vector<std::string> labels;
  std::set<std::string> groups;
  for (const EmittedFile& file : files) {
    size_t jobs = 0;
    const json upload = json::parse(file.text);
    for (const json& step : upload.at("steps")) {
      if (!step.contains("group")) continue;
      EXPECT_TRUE(groups.insert(step.at("key")).second) << step.at("key");
      jobs += step.at("steps").size();
      for (const json& cell : step.at("steps")) labels.push_back(cell.at("label"));
    }
    EXPECT_LE(jobs + 1, 500u) << file.name;
  }
  EXPECT_EQ(Sorted(labels), Keys(pipeline));
  const json report = json::parse(files.back().text).at("steps").back();
  EXPECT_EQ(report.at("key"), "assay-report");
  std::set<std::string> after;
  for (const json& each : report.at("depends_on")) {
    EXPECT_EQ(each.at("allow_failure"), true);
    after.insert(each.at("step"));
  }
  EXPECT_EQ(after, groups);
}

TEST(EmitBuildkite, RetriesOnlyInfrastructureAndLeavesVerdictsToTheReport) {
  const json upload = json::parse(EmitBuildkite(ExamplePipeline()).front().text);
  const json step = upload.at("steps").at(0).at("steps").at(0);
  EXPECT_EQ(step.at("retry"), json::parse(R"({"automatic": [{"exit_status": 75, "limit": 1}]})"));
  EXPECT_EQ(step.at("soft_fail"),
            json::parse(R"([{"exit_status": 1}, {"exit_status": 3}, {"exit_status": 4}])"));
  EXPECT_EQ(step.at("timeout_in_minutes"), 60);
  EXPECT_EQ(step.at("agents"), json::parse(R"({"queue": "cpu"})"));
}

// The artifacts of a build are one heap.
TEST(EmitBuildkite, KeepsTheResultsOfTwoFleetsApart) {
  Pipeline nightly = ExamplePipeline();
  nightly.name = "nightly";
  const json steps = json::parse(EmitBuildkite(nightly).front().text).at("steps");
  EXPECT_EQ(steps.at(0).at("steps").at(0).at("artifact_paths"), json::parse(R"(["assay-out/nightly/**/*"])"));
  EXPECT_THAT(steps.back().at("command"), HasSubstr("artifact download 'assay-out/nightly/**/*' ."));
  EXPECT_THAT(steps.back().at("command"), HasSubstr("merge assay-out/nightly "));
}

// What `pipeline upload` would fill in itself is written so that it does not.
TEST(EmitBuildkite, LeavesNoDollarToTheUpload) {
  for (const EmittedFile& file : EmitBuildkite(ExamplePipeline()))
    EXPECT_THAT(ReplaceAll(file.text, "$$", ""), Not(HasSubstr("$"))) << file.name;
}

TEST(EmitGithub, HasMatricesOf256JobsAndOutputsBelowOneMegabyte) {
  const Pipeline pipeline = BigPipeline(600);
  const auto files = EmitGithub(pipeline);
  ASSERT_EQ(files.size(), 4u);
  std::vector<std::string> keys;
  for (const char* name : {"cells-1.json", "cells-2.json", "cells-3.json"}) {
    const std::string& text = File(files, name).text;
    EXPECT_LT(text.size(), 1'000'000u);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << "an output is one line";
    const json rows = json::parse(text);
    EXPECT_LE(rows.size(), 256u);
    for (const json& row : rows) keys.push_back(row.at("cell"));
  }
  EXPECT_EQ(Sorted(keys), Keys(pipeline));
  const std::string& workflow = File(files, "assay.yml").text;
  EXPECT_THAT(workflow, HasSubstr("needs: [plan, cells-1, cells-2, cells-3]"));
  EXPECT_THAT(workflow, HasSubstr("cells_3: ${{ steps.cells.outputs.cells_3 }}"));
}

// A step is a shell of its own: what setup exports is gone in the next one.
TEST(EmitGithub, HasSetupInEveryStepThatCallsAssay) {
  Pipeline pipeline = ExamplePipeline();
  pipeline.setup = {"   export PATH=/opt/assay:$PATH"};  // the indicator keeps its blanks out of the indent
  const std::string workflow = File(EmitGithub(pipeline), "assay.yml").text;
  int calling = 0;
  for (const std::string& step : SplitAt(workflow, "\n      - ")) {
    if (step.find("\n        run: |2\n") == std::string::npos || step.find(" assay ") == std::string::npos)
      continue;
    ++calling;
    EXPECT_THAT(step, HasSubstr("run: |2\n             export PATH=/opt/assay:$PATH\n"));
  }
  EXPECT_EQ(calling, 3) << "plan, measure, merge";
}

TEST(EmitGitlab, NeedsNobodyAndStaysBelowAMegabyteWithThousands) {
  const Pipeline pipeline = BigPipeline(3000);
  const auto files = EmitGitlab(pipeline);
  ASSERT_EQ(files.size(), 1u) << "artifacts do not cross child pipelines";
  EXPECT_LT(files.front().text.size(), 1'000'000u);
  const json file = json::parse(files.front().text);
  std::vector<std::string> keys;
  for (const auto& [name, job] : file.items()) {
    if (!job.is_object()) continue;
    EXPECT_FALSE(job.contains("needs"));
    if (job.value("extends", "") == ".cell") keys.push_back(name);
  }
  EXPECT_EQ(Sorted(keys), Keys(pipeline));
  EXPECT_EQ(file.at("assay-report").at("when"), "always");
}

TEST(EmitSlurm, HasArraysBelowMaxArraySizeAndEveryLineOnce) {
  const Pipeline pipeline = BigPipeline(2500);
  const auto files = EmitSlurm(pipeline);
  EXPECT_EQ(Sorted(FirstColumn(File(files, "cells.tsv").text)), Keys(pipeline));
  EXPECT_THAT(File(files, "gfx950-8-part-1.sbatch").text, HasSubstr("#SBATCH --array=0-999\n"));
  EXPECT_THAT(File(files, "gfx950-8-part-3.sbatch").text, HasSubstr("#SBATCH --array=0-499\n"));
  EXPECT_THAT(File(files, "gfx950-8-part-3.sbatch").text, HasSubstr("$((2001 + SLURM_ARRAY_TASK_ID))"));
}

// Tried again after its node failed, or by hand, it finds no report of the first time, and Slurm does not
// itself try a verdict again.
TEST(EmitSlurm, MakesItsReportAnew) {
  const std::string report = File(EmitSlurm(ExamplePipeline()), "report.sbatch").text;
  EXPECT_THAT(report, HasSubstr("#SBATCH --no-requeue\n"));
  EXPECT_LT(report.find("\nrm -rf \"$results/report\"\n"), report.find("--out \"$results/report\""));
}

TEST(EmitKubernetes, HasObjectsBelowAMebibyteAndEveryLineOnce) {
  const Pipeline pipeline = BigPipeline(2500);
  std::vector<std::string> keys;
  for (const EmittedFile& file : EmitKubernetes(pipeline)) {
    if (!file.name.ends_with(".json") || file.name == "report.json") continue;
    const json list = json::parse(file.text);
    const json& map = list.at("items").at(0);
    const json& job = list.at("items").at(1);
    EXPECT_LT(map.dump().size(), size_t{1} << 20);
    const std::vector<std::string> lines = FirstColumn(map.at("data").at("cells.tsv"));
    EXPECT_EQ(job.at("spec").at("completions"), lines.size());
    keys.insert(keys.end(), lines.begin(), lines.end());
  }
  EXPECT_EQ(Sorted(keys), Keys(pipeline));
}

TEST(EmitKubernetes, HasWhatTheApiRequires) {
  for (const EmittedFile& file : EmitKubernetes(ExamplePipeline())) {
    if (!file.name.ends_with(".json")) continue;
    const json list = json::parse(file.text);
    for (const json& object : list.at("items")) {
      EXPECT_EQ(object.at("metadata").at("namespace"), "default");
      const std::string name = object.at("metadata").at("name");
      EXPECT_LE(name.size(), 52u) << "pods get a suffix, and 63 is the limit";
      EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos) << name;
      if (object.at("kind") == "ConfigMap") continue;
      EXPECT_EQ(object.at("apiVersion"), "batch/v1");
      const json& pod = object.at("spec").at("template").at("spec");
      EXPECT_EQ(pod.at("restartPolicy"), "Never") << "podFailurePolicy and backoffLimitPerIndex ask for it";
      std::set<std::string> volumes;
      for (const json& volume : pod.at("volumes")) volumes.insert(volume.at("name"));
      const json& container = pod.at("containers").at(0);
      for (const json& mount : container.at("volumeMounts")) EXPECT_EQ(volumes.count(mount.at("name")), 1u);
      EXPECT_FALSE(container.at("image").get<std::string>().empty());
    }
  }
}

TEST(Runners, AreWrittenInTheEnginesWords) {
  Pipeline pipeline = ExamplePipeline();
  pipeline.runners = {{"gfx950", {"queue=amd_mi355_8", "zone=$a"}}, {"report", {"queue=small"}}};
  const json upload = json::parse(EmitBuildkite(pipeline).front().text);
  EXPECT_EQ(upload.at("steps").at(1).at("steps").at(0).at("agents"),
            json::parse(R"({"queue": "amd_mi355_8", "zone": "$$a"})"));
  EXPECT_EQ(upload.at("steps").back().at("agents"), json::parse(R"({"queue": "small"})"));
  pipeline.runners = {{"gfx950", {"--partition=mi355", "--exclusive"}}};
  EXPECT_THAT(File(EmitSlurm(pipeline), "gfx950-8.sbatch").text,
              HasSubstr("#SBATCH --partition=mi355\n#SBATCH --exclusive\n"));
  pipeline.runners = {{"gfx950", {"self-hosted", "mi355"}}};
  EXPECT_THAT(File(EmitGithub(pipeline), "cells-1.json").text,
              HasSubstr(R"("runs_on":["self-hosted","mi355"])"));
}

}  // namespace
}  // namespace assay::runner
