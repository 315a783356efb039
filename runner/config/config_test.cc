#include "runner/config/config.h"

#include "runner/config/config_test_support.h"

namespace assay::runner {
namespace {

Config Load(const std::string& text) {
  ConfigFolder folder;
  const auto config = LoadConfig(folder.Write("c.yaml", text));
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(Config());
}

TEST(LoadConfig, FillsTheStructsThatMeasureAndJudge) {
  const Config config = Load(kExampleConfig);
  EXPECT_EQ(config.name, "tiny");
  EXPECT_EQ(config.hardware, "cpu");
  EXPECT_EQ(config.engine.kind, EngineKind::kBundled);
  EXPECT_EQ(config.engine.model, "models/tiny");
  ASSERT_TRUE(config.evals.gpqa);
  EXPECT_EQ(config.evals.gpqa->dataset, "q.csv");
  ASSERT_TRUE(config.gate.threshold);
  EXPECT_EQ(config.gate.threshold->threshold, 0.568);
  EXPECT_EQ(config.gate.threshold->kind, gate::ToleranceKind::kAbsolute);
  EXPECT_EQ(config.gate.threshold->tolerance, 0.05);
  ASSERT_EQ(config.evals.serving.size(), 1u);
  EXPECT_EQ(config.evals.serving[0].input_len, 8);
  EXPECT_EQ(config.evals.serving[0].output_len, evals::ServingOptions().output_len);
}

TEST(LoadConfig, TakesWorkaroundsAndPoliciesThatDecideNothingMeasured) {
  const Config plain = Load(kExampleConfig);
  const Config config =
      Load(std::string(kExampleConfig) +
           "gate: {baseline: {policy: merge_base}}\n"
           "workarounds: [{id: fallback, until: \"aiter>=0.1.20\"}, {id: other, until: \"rocm > 7\"}]\n");
  ASSERT_EQ(config.gate.workarounds.size(), 2u);
  EXPECT_EQ(config.gate.workarounds[0].id, "fallback");
  EXPECT_EQ(config.gate.workarounds[0].until, "aiter>=0.1.20");
  EXPECT_EQ(config.gate.baseline.kind, gate::BaselinePolicyKind::kMergeBase);
  EXPECT_EQ(ConfigHash(config), ConfigHash(plain));
}

TEST(LoadConfig, RefusesAWorkaroundWhoseConditionIsNone) {
  ConfigFolder folder;
  const auto config = LoadConfig(folder.Write(
      "c.yaml", std::string(kExampleConfig) + "workarounds: [{id: x, until: \"aiter 0.1.20\"}]\n"));
  EXPECT_EQ(
      folder.ErrorOf(config),
      "c.yaml:14:30: workarounds[0].until: must be a name, one of >= > <= < == != and a version, got aiter "
      "0.1.20; for example \"aiter>=0.1.20\"");
}

TEST(LoadConfig, KeepsEnvironmentValuesAsTheirSourceText) {
  const Config config = Load(ExampleWith(
      "kind: bundled",
      "kind: bundled\n  env: {A: 1, B: \"1\", C: true, D: on, E: 0x10, F: 1.0, G: \"\", H: '0,1'}"));
  const std::map<std::string, std::string> expected = {{"A", "1"},  {"B", "1"},    {"C", "true"},
                                                       {"D", "on"}, {"E", "0x10"}, {"F", "1.0"},
                                                       {"G", ""},   {"H", "0,1"}};
  EXPECT_EQ(config.engine.env, expected);
}

TEST(LoadConfig, ReadsEverySpellingOfANumber) {
  for (const char* text : {".568", "5.68e-1", "0.5680", "+0.568"}) {
    const Config config = Load(ExampleWith("threshold: 0.568", std::string("threshold: ") + text));
    ASSERT_TRUE(config.gate.threshold) << text;
    EXPECT_EQ(config.gate.threshold->threshold, 0.568) << text;
  }
}

TEST(LoadConfig, ReadsInfAsARateThatSendsAllAtOnce) {
  EXPECT_EQ(Load(ExampleWith("input_len: 8", "request_rate: inf")).evals.serving[0].request_rate, 0);
  EXPECT_EQ(Load(ExampleWith("input_len: 8", "request_rate: 2.5")).evals.serving[0].request_rate, 2.5);
}

TEST(LoadConfig, ReadsCrLfAndNoFinalNewline) {
  std::string text = ReplaceAll(kExampleConfig, "\n", "\r\n");
  text.resize(text.size() - 2);
  EXPECT_EQ(ToYaml(Load(text)), ToYaml(Load(kExampleConfig)));
}

TEST(LoadConfig, TakesAScoreWithoutThreshold) {
  const Config config =
      Load(ExampleWith("    threshold: 0.568\n    tolerance: {kind: absolute, value: 0.05}\n", ""));
  EXPECT_FALSE(config.gate.threshold);
}

TEST(Extends, KeysOfTheFileHoldAndTheBaseFillsIn) {
  ConfigFolder folder;
  folder.Write("base/root.yaml",
               "schema: assay/base/1\n"
               "engine: {kind: bundled, model: m, env: {A: 1, B: 2}}\n"
               "evals: {serving: [{name: a}, {name: b}]}\n");
  folder.Write("base/mid.yaml",
               "schema: assay/base/1\nextends: root.yaml\nengine: {tensor_parallel_size: 2}\n");
  const Path file = folder.Write("x/c.yaml",
                                 "schema: assay/config/1\nextends: ../base/mid.yaml\nname: c\nhardware: cpu\n"
                                 "engine: {model: n, env: {B: 3}}\nevals: {serving: [{name: z}]}\n");
  const auto config = LoadConfig(file);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->engine.model, "n");
  EXPECT_EQ(config->engine.tensor_parallel_size, 2);
  EXPECT_EQ(config->engine.env, (std::map<std::string, std::string>{{"A", "1"}, {"B", "3"}}));
  ASSERT_EQ(config->evals.serving.size(), 1u) << "a list replaces the whole list";
  EXPECT_EQ(config->evals.serving[0].name, "z");
  EXPECT_EQ(config->file, file);
}

TEST(Extends, AMistakeInTheBaseIsToldWithThePlaceInTheBase) {
  ConfigFolder folder;
  folder.Write("base.yaml", "schema: assay/base/1\nengine: {model: m, tensor_paralel_size: 2}\n");
  const Path file = folder.Write("c.yaml",
                                 "schema: assay/config/1\nextends: base.yaml\nname: c\nhardware: cpu\n"
                                 "evals: {serving: [{name: z, input_len: x}]}\n");
  EXPECT_EQ(folder.ErrorOf(LoadConfig(file)),
            "base.yaml:2:20: engine.tensor_paralel_size: unknown key; did you mean tensor_parallel_size?\n"
            "c.yaml:5:40: evals.serving[0].input_len: must be a whole number between 1 and 10000000, got x; "
            "for example "
            "1024");
}

TEST(Extends, MissingBaseAndCyclesAreRefused) {
  ConfigFolder folder;
  folder.Write("base.yaml", "schema: assay/base/1\nextends: b.yaml\n");
  const Path missing = folder.Write("m.yaml", "schema: assay/config/1\nextends: bas.yaml\n");
  const Path cycle = folder.Write("b.yaml", "schema: assay/base/1\nextends: base.yaml\n");
  EXPECT_EQ(folder.ErrorOf(LoadConfig(missing)),
            "m.yaml:2:10: extends: bas.yaml: no such file; did you mean base.yaml? (relative to this file)");
  EXPECT_NE(folder.ErrorOf(LoadConfig(cycle)).find("extends this file in turn"), std::string::npos);
}

TEST(LoadSuite, IsFoundByNameOrByFile) {
  ConfigFolder folder;
  const Path file = folder.Write(
      "suites/quick.yaml",
      "schema: assay/suite/1\nname: quick\ngpqa: {subset: 5, repeats: 2}\nserving: {first: 1}\n");
  for (const std::string& name : {std::string("quick"), file.string()}) {
    const auto suite = LoadSuite(name, folder.path());
    ASSERT_TRUE(suite) << suite.error().message;
    EXPECT_EQ(suite->name, "quick");
    EXPECT_EQ(suite->gpqa_subset, 5);
    EXPECT_EQ(suite->gpqa_repeats, 2);
  }
  EXPECT_EQ(folder.ErrorOf(LoadSuite("quik", folder.path())),
            "suites/quik.yaml: no such file; did you mean suites/quick.yaml?");
}

TEST(LoadSuite, MistakesAreAnsweredLikeThoseOfAConfig) {
  ConfigFolder folder;
  const Path file = folder.Write(
      "s.yaml", "schema: assay/suite/1\nname: a.b\nserving: {first: 1, names: [x]}\ngpqua: {}\n");
  EXPECT_EQ(folder.ErrorOf(LoadSuite(file.string(), folder.path())),
            "s.yaml:2:7: name: must be a name of at most 14 lower-case letters, digits, - and _, got a.b; "
            "for example a-b\n"
            "s.yaml:3:18: serving.first: cannot stand beside names; keep one of the two\n"
            "s.yaml:4:1: gpqua: unknown key; did you mean gpqa?");
  const Path config = folder.Write("c.yaml", kExampleConfig);
  EXPECT_EQ(folder.ErrorOf(LoadSuite(config.string(), folder.path())),
            "c.yaml: is no suite; a suite begins with schema: assay/suite/1");
}

Config WithShapes(const std::vector<std::string>& names) {
  Config config;
  config.evals.gpqa.emplace().repeats = 8;
  for (const std::string& name : names) config.evals.serving.emplace_back().name = name;
  return config;
}

std::string ShapesOf(const Config& config) {
  std::vector<std::string> names;
  for (const auto& shape : config.evals.serving) names.push_back(shape.name);
  return Join(names, " ");
}

TEST(ApplySuite, SelectsAndOverrides) {
  const Config config = WithShapes({"a", "b", "c"});
  Suite suite;
  EXPECT_EQ(ShapesOf(Apply(config, suite)), "a b c");
  suite.serving = {"c", "a"};
  EXPECT_EQ(ShapesOf(Apply(config, suite)), "a c") << "in the config's order";
  suite.serving.clear();
  suite.serving_first = 2;
  EXPECT_EQ(ShapesOf(Apply(config, suite)), "a b");
  suite.serving_enabled = false;
  EXPECT_EQ(ShapesOf(Apply(config, suite)), "");
  suite.gpqa_repeats = 1;
  suite.gpqa_subset = 7;
  EXPECT_EQ(Apply(config, suite).evals.gpqa->repeats, 1);
  EXPECT_EQ(Apply(config, suite).evals.gpqa->subset, 7);
  suite.gpqa = false;
  EXPECT_FALSE(Apply(config, suite).evals.gpqa);
}

TEST(LoadList, GivesPathsRelativeToItsFolder) {
  ConfigFolder folder;
  folder.Write("a.yaml", "");
  folder.Write("sub/b.yaml", "");
  const Path list = folder.Write("list.txt", "# AMD\r\n\r\n a.yaml  # first\r\nsub/b.yaml");
  const auto paths = LoadList(list);
  ASSERT_TRUE(paths) << paths.error().message;
  EXPECT_EQ(*paths, (std::vector<Path>{folder.path() / "a.yaml", folder.path() / "sub/b.yaml"}));
}

TEST(LoadList, AMissingEntryIsAnErrorWithItsLine) {
  ConfigFolder folder;
  folder.Write("a.yaml", "");
  const Path list = folder.Write("list.txt", "a.yaml\n# note\nb.yaml\nsub/c.yaml\n");
  EXPECT_EQ(folder.ErrorOf(LoadList(list)),
            "list.txt:3:1: b.yaml: no such file; did you mean a.yaml?\n"
            "list.txt:4:1: sub/c.yaml: no such file; check the path");
  EXPECT_EQ(folder.ErrorOf(LoadList(folder.Write("empty.txt", "# none\n"))),
            "empty.txt: lists no file; write one path a line, relative to this file");
}

}  // namespace
}  // namespace assay::runner
