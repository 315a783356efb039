#include "runner/plan/plan.h"

#include "runner/config/config_test_support.h"
#include "runner/plan/config_files.h"
#include "runner/plan/resolve.h"

namespace assay::runner {
namespace {

Surroundings In(const ConfigFolder& folder) {
  Surroundings here;
  here.working_folder = folder.path() / "work";
  here.program_folder = "/opt/assay/bin";
  here.data = folder.path() / "data";
  return here;
}

Cell PlanOne(const Path& file, const Surroundings& here) {
  const auto cells = MakePlan({file}, std::nullopt, here);
  EXPECT_TRUE(cells) << cells.error().message;
  return cells ? cells->front() : Cell();
}

TEST(Plan, BundledEngineGetsItsWholeCommandLine) {
  ConfigFolder folder;
  const Path file =
      folder.Write("c.yaml", ExampleWith("kind: bundled",
                                         "kind: bundled\n  tokenizer: tok\n  tensor_parallel_size: 2\n"
                                         "  moe_backend: grouped\n  extra_args: [--max-num-seqs, \"4\"]\n"
                                         "  env: {A: on}"));
  const Cell cell = PlanOne(file, In(folder));
  EXPECT_EQ(ShellJoin(cell.launch.argv),
            "/opt/assay/bin/assay-engine serve --model models/tiny --tokenizer tok --tensor-parallel-size 2 "
            "--moe-backend "
            "grouped --seed 0 --port 0 --max-num-seqs 4");
  EXPECT_EQ(cell.launch.model_id, "tiny");
  EXPECT_TRUE(cell.launch.announces_port);
  EXPECT_EQ(cell.launch.env.at("A"), "on");
  EXPECT_EQ(cell.key, "cpu.tiny");
  EXPECT_EQ(cell.config_hash.size(), 64u);
}

TEST(Plan, CommandGetsItsPlaceholdersFilledAndKeepsThePort) {
  ConfigFolder folder;
  const Path file = folder.Write(
      "c.yaml",
      ExampleWith(
          "kind: bundled\n  model: models/tiny",
          "kind: command\n  model: openai/gpt-oss-20b\n  tokenizer: org/tok\n  tensor_parallel_size: 2\n"
          "  argv: [vllm, serve, \"{model}\", \"--port={port}\", --host, \"{host}\", -tp, \"{tp}\", '{\"a\": "
          "1}']\n"
          "  extra_args: [--tokenizer, \"{tokenizer}\"]"));
  const Cell cell = PlanOne(file, In(folder));
  EXPECT_EQ(cell.launch.argv,
            (std::vector<std::string>{"vllm", "serve", "openai/gpt-oss-20b", "--port={port}", "--host",
                                      "127.0.0.1", "-tp", "2", "{\"a\": 1}", "--tokenizer", "org/tok"}));
  EXPECT_EQ(cell.launch.model_id, "openai/gpt-oss-20b");
  EXPECT_FALSE(cell.launch.announces_port);
}

TEST(Plan, PathsAreLookedForBesideTheConfigFirst) {
  ConfigFolder folder;
  const Path file = folder.Write("cfg/c.yaml", kExampleConfig);
  Surroundings here = In(folder);
  here.models = folder.path() / "hub";
  folder.Write("hub/models/tiny/config.json", "{}");
  EXPECT_EQ(PlanOne(file, here).config.engine.model, (folder.path() / "hub/models/tiny").string());
  folder.Write("work/models/tiny/config.json", "{}");
  EXPECT_EQ(PlanOne(file, here).config.engine.model, (folder.path() / "work/models/tiny").string());
  folder.Write("cfg/models/tiny/config.json", "{}");
  EXPECT_EQ(PlanOne(file, here).config.engine.model, (folder.path() / "cfg/models/tiny").string());
  EXPECT_EQ(PlanOne(file, here).launch.model_id, "tiny");
}

TEST(OrInstalled, FindsWhatAPackageBroughtUnlessTheWorkingFolderHasIt) {
  ConfigFolder folder;
  Surroundings here = In(folder);
  here.program_folder = folder.path() / "opt/bin";
  const Path installed = folder.Write("opt/share/assay/configs/cpu/a.yaml", kExampleConfig);
  EXPECT_EQ(OrInstalled("configs/cpu/a.yaml", here), installed);
  EXPECT_EQ(OrInstalled("configs/cpu/", here), (folder.path() / "opt/share/assay/configs/cpu/").string());
  EXPECT_EQ(OrInstalled("configs/cpu/b.yaml", here), "configs/cpu/b.yaml") << "named as given in the error";
  EXPECT_EQ(OrInstalled("/configs/cpu/a.yaml", here), "/configs/cpu/a.yaml");
  folder.Write("work/configs/cpu/a.yaml", kExampleConfig);
  EXPECT_EQ(OrInstalled("configs/cpu/a.yaml", here), "configs/cpu/a.yaml");
}

TEST(Plan, HashDoesNotKnowWhereThingsLie) {
  ConfigFolder folder;
  const Path file = folder.Write("cfg/c.yaml", kExampleConfig);
  const std::string before = PlanOne(file, In(folder)).config_hash;
  folder.Write("work/models/tiny/config.json", "{}");
  EXPECT_EQ(PlanOne(file, In(folder)).config_hash, before);
}

TEST(Plan, PublishedQuestionsLieInTheDataFolder) {
  ConfigFolder folder;
  const Path file = folder.Write("c.yaml", ExampleWith("dataset: q.csv", "variant: diamond"));
  const Cell cell = PlanOne(file, In(folder));
  EXPECT_EQ(cell.config.evals.gpqa->dataset, folder.path() / "data/gpqa/gpqa_diamond.csv");
}

TEST(Plan, SuiteIsPartOfTheKey) {
  ConfigFolder folder;
  const Path file = folder.Write("cpu/c.yaml", kExampleConfig);
  folder.Write("suites/acc.yaml", "schema: assay/suite/1\nname: acc\nserving: {enabled: false}\n");
  const auto cells = MakePlan({file}, "acc", In(folder));
  ASSERT_TRUE(cells) << cells.error().message;
  EXPECT_EQ(cells->front().key, "cpu.tiny.acc");
  EXPECT_TRUE(cells->front().config.evals.serving.empty());
}

TEST(Plan, SuiteThatLeavesNothingIsRefused) {
  ConfigFolder folder;
  const Path file = folder.Write("c.yaml", kExampleConfig);
  const Path none = folder.Write(
      "n.yaml", "schema: assay/suite/1\nname: none\ngpqa: {enabled: false}\nserving: {enabled: false}\n");
  const Path typo = folder.Write("t.yaml", "schema: assay/suite/1\nname: typo\nserving: {names: [s2]}\n");
  EXPECT_EQ(folder.ErrorOf(MakePlan({file}, none.string(), In(folder))),
            "c.yaml: the suite none leaves nothing to measure (serving shapes here: s1); choose another");
  EXPECT_EQ(folder.ErrorOf(MakePlan({file}, typo.string(), In(folder))),
            "t.yaml: serving.names: no config given has a shape s2; did you mean s1?");
}

TEST(Plan, TwoConfigsOfOneNameAreRefused) {
  ConfigFolder folder;
  const Path a = folder.Write("a.yaml", kExampleConfig);
  const Path b = folder.Write("b.yaml", kExampleConfig);
  EXPECT_EQ(folder.ErrorOf(MakePlan({a, b}, std::nullopt, In(folder))),
            "b.yaml: has the name and hardware of a.yaml (cell cpu.tiny); give one of them another name");
}

TEST(Plan, FoldersAndListsNameManyConfigs) {
  ConfigFolder folder;
  folder.Write("x/a.yaml", kExampleConfig);
  folder.Write("x/b.yaml", ExampleWith("name: tiny", "name: other"));
  folder.Write("x/suites/s.yaml", "schema: assay/suite/1\nname: s\n");
  const Path list = folder.Write("l.txt", "x/b.yaml\n");
  EXPECT_EQ(MakePlan({folder.path() / "x"}, std::nullopt, In(folder))->size(), 2u);
  EXPECT_EQ(MakePlan({list}, std::nullopt, In(folder))->front().key, "cpu.other");
}

TEST(Plan, DescribesCellsWithTheirCommandLines) {
  ConfigFolder folder;
  const Path file =
      folder.Write("c.yaml", ExampleWith("kind: bundled", "kind: bundled\n  env: {A: \"x y\"}"));
  const std::string text = folder.Relative(DescribePlan({PlanOne(file, In(folder))}));
  EXPECT_EQ(text.find("cell cpu.tiny\n  config    c.yaml ("), 0u) << text;
  EXPECT_NE(text.find("\n  command   A='x y' /opt/assay/bin/assay-engine serve --model models/tiny "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  eval      serving s1: 100 prompts, 8 in, 128 out, rate inf, no limit in flight\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n    engine:\n      kind: bundled\n"), std::string::npos) << text;
}

TEST(ValidatePaths, GivesOneAnswerForEachFile) {
  ConfigFolder folder;
  folder.Write("a.yaml", kExampleConfig);
  folder.Write("b.yaml", "schema: assay/base/1\nengine: {model: m}\n");
  folder.Write("c.yaml", ExampleWith("name: tiny", "nam: tiny"));
  folder.Write("l.txt", "a.yaml\nnope.yaml\n");
  folder.Write("suites/s.yaml", "schema: assay/suite/1\nname: s\n");
  folder.Write("README.md", "not looked at");
  const auto checks = ValidatePaths({folder.path()});
  ASSERT_TRUE(checks) << checks.error().message;
  std::vector<std::string> lines;
  for (const FileCheck& check : *checks) {
    lines.push_back(
        folder.Relative(fmt::format("{} {} {}", check.ok ? "ok" : "BAD", check.file.string(), check.text)));
  }
  EXPECT_EQ(Join(lines, "\n"),
            "ok a.yaml config cpu.tiny: gpqa, 1 serving shape\n"
            "ok b.yaml base\n"
            "BAD c.yaml c.yaml:1:1: name: is missing; for example name: gpt-oss-20b-mxfp4-bf16\n"
            "c.yaml:2:1: nam: unknown key; did you mean name?\n"
            "BAD l.txt l.txt:2:1: nope.yaml: no such file; check the path\n"
            "ok suites/s.yaml suite s");
  EXPECT_FALSE(ValidatePaths({folder.path() / "suites" / "none"})->front().ok);
}

TEST(ValidatePaths, AFolderWithoutConfigsIsAnError) {
  ConfigFolder folder;
  folder.Write("x/README.md", "");
  EXPECT_EQ(folder.ErrorOf(ValidatePaths({folder.path() / "x"})),
            "x: holds no YAML or list file; name one or a folder of them");
}

}  // namespace
}  // namespace assay::runner
