#include "runner/config/config_test_support.h"
#include "runner/plan/machine.h"
#include "runner/plan/plan.h"
#include "runner/plan/resolve.h"

namespace assay::runner {
namespace {

constexpr char kQuestions[] =
    "Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,Record ID,High-level "
    "domain,"
    "Subdomain,Writer's Difficulty Estimate\n"
    "q1,a,b,c,d,rec1,Physics,x,Easy\n"
    "q2,a,b,c,d,rec2,Physics,x,Easy\n";

// A machine where the example config runs, until a test takes something away.
class PreflightTest : public ::testing::Test {
 protected:
  PreflightTest() {
    folder_.Write("models/tiny/config.json", "{}");
    folder_.Write("tok/tokenizer.json", "{}");
    folder_.Write("q.csv", kQuestions);
    const Path program = folder_.Write("bin/assay-engine", "");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    here_.working_folder = folder_.path() / "work";
    here_.program_folder = folder_.path() / "bin";
    here_.data = folder_.path() / "data";
    here_.search_path = (folder_.path() / "bin").string();
    machine_.cpu = "Test CPU";
    machine_.cores = 2;
  }

  // "" when all is there.
  std::string Problems(const std::string& text) {
    const Path file = folder_.Write("c.yaml", text);
    const auto cells = MakePlan({file}, std::nullopt, here_);
    EXPECT_TRUE(cells) << cells.error().message;
    if (!cells) return "no plan";
    Probe probe;
    probe.run = [this](const std::vector<std::string>&) { return engine_version_; };
    const Status status = Preflight(cells->front(), machine_, here_, probe);
    if (status) return "";
    kind_ = status.error().kind;
    return folder_.Relative(status.error().message);
  }

  ConfigFolder folder_;
  Surroundings here_;
  Machine machine_;
  Result<std::string> engine_version_ =
      std::string("assay-engine 0.1.0 (0123456789ab), GPU backend: cuda 90\n");
  std::optional<ErrorKind> kind_;
};

TEST_F(PreflightTest, PassesWhenAllIsThere) {
  EXPECT_EQ(Problems(ExampleWith("kind: bundled", "kind: bundled\n  tokenizer: tok")), "");
}

TEST_F(PreflightTest, MissingModelNamesEveryPlaceThatWasTried) {
  EXPECT_EQ(
      Problems(ExampleWith("models/tiny", "openai/gpt-oss-20b")),
      "c.yaml: engine.model: openai/gpt-oss-20b is not on this machine; looked in openai/gpt-oss-20b and "
      "work/openai/gpt-oss-20b; put the model there, or set ASSAY_MODELS to the folder that holds "
      "openai/gpt-oss-20b");
  EXPECT_EQ(kind_, ErrorKind::kUsage);
  here_.models = folder_.path() / "hub";
  EXPECT_EQ(Problems(ExampleWith("models/tiny", "openai/gpt-oss-20b")),
            "c.yaml: engine.model: openai/gpt-oss-20b is not on this machine; looked in openai/gpt-oss-20b, "
            "work/openai/gpt-oss-20b and hub/openai/gpt-oss-20b; put the model there ($ASSAY_MODELS is hub)");
}

TEST_F(PreflightTest, ModelFolderMustBeAFolderWithItsConfig) {
  EXPECT_EQ(Problems(ExampleWith("models/tiny", "q.csv")),
            "c.yaml: engine.model: q.csv is a file; name the folder that holds config.json");
  EXPECT_EQ(
      Problems(ExampleWith("models/tiny", "tok")),
      "c.yaml: engine.model: tok has no config.json; it is no model folder, or the download did not finish");
}

TEST_F(PreflightTest, TokenizerMustHaveItsFile) {
  EXPECT_EQ(Problems(ExampleWith("kind: bundled", "kind: bundled\n  tokenizer: models/tiny")),
            "c.yaml: engine.tokenizer: models/tiny has no tokenizer.json; it is no tokenizer folder, or the "
            "download did not "
            "finish");
}

TEST_F(PreflightTest, PublishedQuestionsSayHowToGetThem) {
  const std::string problem = Problems(ExampleWith("dataset: q.csv", "variant: diamond"));
  EXPECT_EQ(
      problem,
      "c.yaml: evals.gpqa.variant: diamond is not on this machine: no file data/gpqa/gpqa_diamond.csv; "
      "download dataset.zip from github.com/idavidrein/gpqa and run `assay data gpqa --from dataset.zip`, or "
      "set ASSAY_DATA to the folder that holds gpqa/");
  EXPECT_EQ(kind_, ErrorKind::kUsage);
}

TEST_F(PreflightTest, BadDataIsFoundBeforeAnythingIsLaunched) {
  EXPECT_NE(Problems(ExampleWith("dataset: q.csv", "dataset: none.csv")), "");
  EXPECT_EQ(kind_, ErrorKind::kUsage);
  EXPECT_NE(Problems(ExampleWith("dataset: q.csv", "dataset: q.csv\n    subset: 3")), "")
      << "fewer rows than asked";
  folder_.Write("q.csv", "Question,Correct Answer\nq,a\n");
  const std::string missing = Problems(kExampleConfig);
  EXPECT_EQ(missing.find("c.yaml: evals.gpqa.dataset: "), 0u) << missing;
  EXPECT_NE(missing.find("Incorrect Answer 1"), std::string::npos) << missing;
  folder_.Write("q.csv", "");
  EXPECT_NE(Problems(kExampleConfig), "");
}

TEST_F(PreflightTest, MissingProgramIsInfrastructure) {
  EXPECT_EQ(Problems(ExampleWith("kind: bundled", "kind: bundled\n  binary: /no/such/engine")),
            "c.yaml: engine.binary: no program /no/such/engine to start; build it (make build), or name "
            "another one in "
            "engine.binary");
  EXPECT_EQ(kind_, ErrorKind::kInfrastructure);
  EXPECT_EQ(
      Problems(ExampleWith("kind: bundled", "kind: command\n  argv: [vllm, \"{port}\"]")),
      "c.yaml: engine.argv[0]: no program vllm to start; install the server, or put its folder into PATH");
}

TEST_F(PreflightTest, CommandMayFetchAModelIdButNotAPath) {
  const std::string command = "kind: command\n  argv: [assay-engine, \"{port}\"]\n  model: ";
  EXPECT_EQ(Problems(ExampleWith("kind: bundled\n  model: models/tiny", command + "openai/gpt-oss-20b")), "");
  EXPECT_EQ(Problems(ExampleWith("kind: bundled\n  model: models/tiny", command + "./weights")),
            "c.yaml: engine.model: ./weights is not on this machine; looked in weights and work/weights; "
            "correct the path");
}

TEST_F(PreflightTest, WrongHardwareIsRefusedWithWhatWasFound) {
  EXPECT_EQ(
      Problems(ExampleWith("hardware: cpu", "hardware: gfx950")),
      "c.yaml: hardware: gfx950 (MI350X, MI355X) is needed and this machine has cpu (Test CPU, 2 cores) "
      "and no GPU; run it on a machine with gfx950, or choose a config for what is here");
  EXPECT_EQ(kind_, ErrorKind::kInvalid);
  machine_.gpus = {{"h200", "NVIDIA H200", "580", 143771}};
  EXPECT_EQ(Problems(ExampleWith("hardware: cpu", "hardware: h200")), "") << "one GPU";
  EXPECT_EQ(Problems(ReplaceAll(ExampleWith("hardware: cpu", "hardware: h200"), "kind: bundled",
                                "kind: bundled\n  tensor_parallel_size: 2")),
            "c.yaml: engine.tensor_parallel_size: 2 GPUs of h200 are needed and this machine has cpu (Test "
            "CPU, 2 cores) and "
            "1 x h200 (NVIDIA H200); run it on a larger machine, or lower it");
  machine_.gpus.push_back(machine_.gpus.front());
  EXPECT_EQ(Problems(ReplaceAll(ExampleWith("hardware: cpu", "hardware: h200"), "kind: bundled",
                                "kind: bundled\n  tensor_parallel_size: 2")),
            "");
  EXPECT_EQ(Problems(kExampleConfig), "") << "cpu runs everywhere";
}

TEST_F(PreflightTest, AnEngineBuiltForOtherHardwareIsNotStarted) {
  machine_.gpus = {{"gfx942", "MI300X", "6.12", 196608}};
  EXPECT_EQ(
      Problems(ExampleWith("hardware: cpu", "hardware: gfx942")),
      "c.yaml: engine.kind: bin/assay-engine was built for cuda 90, and not for gfx942; build one with cmake "
      "-DASSAY_GPU=hip -DASSAY_GPU_ARCHITECTURES=gfx942 (docs/gpu.md), or name another one in engine.binary");
  EXPECT_EQ(kind_, ErrorKind::kUsage);
  engine_version_ = std::string("assay-engine 0.1.0 (0123456789ab), GPU backend: hip gfx942\n");
  EXPECT_EQ(Problems(ExampleWith("hardware: cpu", "hardware: gfx942")), "");
}

TEST_F(PreflightTest, FusedIsMeasuredOnOneGpu) {
  machine_.gpus = {{"h200", "NVIDIA H200", "580", 143771}, {"h200", "NVIDIA H200", "580", 143771}};
  const std::string config = ReplaceAll(ExampleWith("hardware: cpu", "hardware: h200"), "kind: bundled",
                                        "kind: bundled\n  moe_backend: fused\n  tensor_parallel_size: ");
  EXPECT_EQ(Problems(ReplaceAll(config, "tensor_parallel_size: ", "tensor_parallel_size: 1")), "");
  EXPECT_EQ(
      Problems(ReplaceAll(config, "tensor_parallel_size: ", "tensor_parallel_size: 2")),
      "c.yaml: engine.moe_backend: fused: on 2 GPUs the bundled engine computes as by grouped, which would "
      "be measured under this name; set tensor_parallel_size 1, or grouped");
}

TEST_F(PreflightTest, EachDeviceHasItsExpertKernels) {
  machine_.gpus = {{"h200", "NVIDIA H200", "580", 143771}};
  const struct {
    const char *hardware, *backend, *problem;
  } rows[] = {{"cpu", "reference", ""},
              {"cpu", "grouped", ""},
              {"cpu", "fused",
               "c.yaml: engine.moe_backend: fused: the bundled engine has reference and grouped on a CPU"},
              {"h200", "reference",
               "c.yaml: engine.moe_backend: reference: the bundled engine has grouped and fused on a GPU"},
              {"h200", "grouped", ""},
              {"h200", "fused", ""}};
  for (const auto& row : rows) {
    EXPECT_EQ(
        Problems(ReplaceAll(ExampleWith("hardware: cpu", std::string("hardware: ") + row.hardware),
                            "kind: bundled", std::string("kind: bundled\n  moe_backend: ") + row.backend)),
        row.problem)
        << row.hardware << " " << row.backend;
  }
}

TEST_F(PreflightTest, EverythingMissingIsToldAtOnce) {
  const std::string text =
      ReplaceAll(ReplaceAll(kExampleConfig, "models/tiny", "none"), "hardware: cpu", "hardware: gfx942");
  const std::string problems = Problems(text);
  EXPECT_EQ(SplitLines(problems).size(), 2u) << problems;
  EXPECT_EQ(kind_, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace assay::runner
