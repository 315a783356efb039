#include "runner/plan/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/config/config_test_support.h"

namespace assay::runner {
namespace {

using ::testing::HasSubstr;

// A machine in a folder, with two programs: git, which says its version, and a server.
class DoctorTest : public ::testing::Test {
 protected:
  DoctorTest() {
    folder_.Write("root/proc/cpuinfo", "processor\t: 0\nmodel name\t: Test CPU\nprocessor\t: 1\n");
    folder_.Write("root/proc/meminfo", "MemTotal: 33554432 kB\n");
    folder_.Write("root/proc/loadavg", "1.50 1.00 0.50 2/200 999\n");
    folder_.Write("root/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    for (const char* name : {"bin/git", "bin/vllm"})
      std::filesystem::permissions(folder_.Write(name, ""), std::filesystem::perms::owner_all);
    folder_.Write("m/config.json", "{}");
    folder_.Write(
        "q.csv",
        "Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,Record "
        "ID,High-level domain,Subdomain,Writer's Difficulty Estimate\nq,a,b,c,d,rec1,Physics,x,Easy\n");
    here_.working_folder = folder_.path();
    here_.program_folder = folder_.path() / "bin";
    here_.search_path = (folder_.path() / "bin").string();
    probe_.root = folder_.path() / "root";
    probe_.run = [this](const std::vector<std::string>& argv) -> Result<std::string> {
      if (argv.front() == "git") return "git version 2.39.5\n";
      if (argv.front().ends_with("bin/assay-engine"))
        return "assay-engine 0.1.0 (0123456789ab), GPU backend: hip gfx90a\n";
      if (argv.front() == "nvidia-smi" && !clocks_.empty() && argv[1].find("clocks.sm") != std::string::npos)
        return clocks_;
      return Fail(ErrorKind::kInfrastructure, "{}: not found", argv.front());
    };
  }

  void Config(const std::string& name, const std::string& hardware, const std::string& model) {
    folder_.Write(
        "configs/" + name,
        "schema: assay/config/1\nname: " + name.substr(0, name.find('.')) + "\nhardware: " + hardware +
            "\nengine: {kind: command, model: " + model +
            ", argv: [vllm, \"{model}\", --port, \"{port}\"]}\nevals: {gpqa: {dataset: ../q.csv}}\n");
  }

  std::string Text() {
    const auto diagnosis = Diagnose({folder_.path() / "configs"}, probe_, here_);
    if (!diagnosis) return diagnosis.error().message;
    any_runs_ = diagnosis->AnyRuns();
    return folder_.Relative(DiagnosisText(*diagnosis));
  }

  ConfigFolder folder_;
  Surroundings here_;
  Probe probe_;
  std::string clocks_;
  bool any_runs_ = false;
};

TEST_F(DoctorTest, NamesWhatIsHereAndWhatEachConfigLacks) {
  Config("a.yaml", "cpu", "some/model");
  Config("b.yaml", "cpu", "./gone");
  for (const char* name : {"c.yaml", "d.yaml", "e.yaml", "f.yaml"}) Config(name, "gfx950", "./gone");
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("Test CPU"));
  EXPECT_THAT(text, HasSubstr("32768 MiB of memory\n"));
  EXPECT_THAT(text, HasSubstr("something else is running"));
  EXPECT_THAT(text, HasSubstr("CPU clocks by the powersave governor: they follow the load"));
  EXPECT_THAT(text, HasSubstr("programs  git 2.39.5, vllm\n"));
  EXPECT_THAT(text, HasSubstr("no        c++, cmake, nvcc, hipcc, nvidia-smi, amd-smi, llama-server\n"));
  EXPECT_THAT(text, HasSubstr("  configs/a.yaml: can run\n"));
  EXPECT_THAT(text, HasSubstr("  configs/b.yaml\n    - engine.model: "));
  // Of another machine's configs only that is said, once for all of them.
  EXPECT_THAT(text, HasSubstr("  configs/c.yaml, configs/d.yaml, configs/e.yaml and 1 more\n    - "));
  EXPECT_EQ(text.find("engine.model", text.find("engine.model") + 1), std::string::npos) << text;
  EXPECT_TRUE(any_runs_);
}

TEST_F(DoctorTest, SaysWhenNothingCanRun) {
  Config("c.yaml", "gfx950", "some/model");
  EXPECT_THAT(Text(), ::testing::Not(HasSubstr("can run")));
  EXPECT_FALSE(any_runs_);
}

TEST_F(DoctorTest, SaysThatTheEngineWasBuiltForAnotherChip) {
  folder_.Write("root/sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 90500\n");
  folder_.Write("root/dev/kfd", "");
  std::filesystem::permissions(folder_.Write("bin/assay-engine", ""), std::filesystem::perms::owner_all);
  folder_.Write("configs/a.yaml",
                "schema: assay/config/1\nname: a\nhardware: gfx950\nengine: {kind: bundled, model: ../m}\n"
                "evals: {gpqa: {dataset: ../q.csv}}\n");
  EXPECT_THAT(Text(),
              HasSubstr("  configs/a.yaml\n    - engine.kind: bin/assay-engine was built for hip gfx90a, "
                        "and not for gfx950; build one with cmake -DASSAY_GPU=hip "
                        "-DASSAY_GPU_ARCHITECTURES=gfx950 (docs/gpu.md)"));
}

TEST_F(DoctorTest, NamesEveryMistakeOfAConfig) {
  folder_.Write("configs/bad.yaml", "schema: assay/config/1\nnam: x\n");
  EXPECT_THAT(Text(), HasSubstr("nam: unknown key; did you mean name?"));
}

}  // namespace
}  // namespace assay::runner
