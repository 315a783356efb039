#include "runner/config/config_test_support.h"

namespace assay::runner {
namespace {

constexpr char kTolerance[] =
    "absolute: a threshold of 0.568 with 0.05 fails below 0.518; relative: it fails below 0.5396";

struct Case {
  const char* name;
  std::string from, to;  // the change that makes the example bad
  std::string message;
};

class BadConfig : public ::testing::TestWithParam<Case> {};

TEST_P(BadConfig, IsAnsweredWithPlaceKeyAndRemedy) {
  ConfigFolder folder;
  const Path file = folder.Write("c.yaml", ExampleWith(GetParam().from, GetParam().to));
  const auto config = LoadConfig(file);
  EXPECT_EQ(folder.ErrorOf(config), GetParam().message);
  if (!config) {
    EXPECT_EQ(config.error().kind, ErrorKind::kUsage);
  }
}

const std::string kThreshold = "threshold: 0.568";

INSTANTIATE_TEST_SUITE_P(
    Keys, BadConfig,
    ::testing::Values(Case{"UnknownKey", "model: models/tiny", "model: models/tiny\n  tokeniser: x",
                           "c.yaml:7:3: engine.tokeniser: unknown key; did you mean tokenizer?"},
                      Case{"UnknownKeyAtTheRoot", "name: tiny", "name: tiny\nhardwear: cpu",
                           "c.yaml:3:1: hardwear: unknown key; did you mean hardware?"},
                      Case{"UnknownKeyInAListItem", "input_len: 8", "inputlen: 8",
                           "c.yaml:13:18: evals.serving[0].inputlen: unknown key; did you mean input_len?"},
                      Case{"KeyOfAnotherSection", "name: tiny", "name: tiny\ntensor_parallel_size: 2",
                           "c.yaml:3:1: tensor_parallel_size: unknown key; it belongs under engine"},
                      Case{"KeyOfNoSection", "name: tiny", "name: tiny\nzzzzzzzz: 2",
                           "c.yaml:3:1: zzzzzzzz: unknown key; the keys here are schema, extends, name, "
                           "hardware, description, engine, "
                           "evals, gate, workarounds"},
                      Case{"MergeKey", "kind: bundled", "<<: {kind: bundled}",
                           "c.yaml:5:3: engine.<<: merge keys are not read; share keys with "
                           "other files through extends"},
                      Case{"DuplicateKey", "  model: models/tiny", "  model: models/tiny\n  model: other",
                           "c.yaml:7:3: engine.model: stands twice, first in line 6; keep one of the two"},
                      Case{"MissingKey", "name: tiny\n", "",
                           "c.yaml:1:1: name: is missing; for example name: gpt-oss-20b-mxfp4-bf16"},
                      Case{"MissingSchema", "schema: assay/config/1\n", "",
                           "c.yaml:1:1: schema: is missing; for example schema: assay/config/1"},
                      Case{"UnknownSchema", "assay/config/1", "assay/config/9",
                           "c.yaml:1:9: schema: must be one of assay/config/1, assay/base/1, got "
                           "assay/config/9; did you mean "
                           "assay/config/1?"},
                      Case{"SectionIsText", "engine:\n  kind: bundled\n  model: models/tiny",
                           "engine: bundled",
                           "c.yaml:4:9: engine: must be a map, got bundled; for example {kind: bundled, "
                           "model: openai/gpt-oss-20b}"},
                      Case{"EmptyValue", "model: models/tiny", "model:",
                           "c.yaml:7:1: engine.model: must be a folder or a model id, got nothing; for "
                           "example openai/gpt-oss-20b"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Numbers, BadConfig,
    ::testing::Values(
        Case{"DecimalComma", kThreshold, "threshold: 0,568",
             "c.yaml:10:16: evals.gpqa.threshold: must be a number between 0 and 1, got 0,568; a decimal "
             "point is needed: "
             "write 0.568"},
        Case{"Percent", kThreshold, "threshold: 56.8",
             "c.yaml:10:16: evals.gpqa.threshold: must be a number between 0 and 1, got 56.8; a fraction is "
             "meant: write "
             "0.568 for 56.8 %"},
        Case{"PercentSign", kThreshold, "threshold: 56.8 %",
             "c.yaml:10:16: evals.gpqa.threshold: must be a number between 0 and 1, got 56.8 %; a fraction "
             "is meant: write "
             "0.568"},
        Case{"NumberInQuotes", kThreshold, "threshold: \"0.568\"",
             "c.yaml:10:16: evals.gpqa.threshold: must be a number between 0 and 1, got \"0.568\"; write "
             "0.568 without "
             "quotes"},
        Case{"NotANumber", kThreshold, "threshold: nan",
             "c.yaml:10:16: evals.gpqa.threshold: must be a number between 0 and 1, got nan; for example "
             "0.568"},
        Case{"NumberTooLarge", kThreshold, "threshold: 1e999",
             "c.yaml:10:16: evals.gpqa.threshold: must be a number between 0 and 1, got 1e999; for example "
             "0.568"},
        Case{"Negative", kThreshold, "threshold: -0.1",
             "c.yaml:10:16: evals.gpqa.threshold: must be a number between 0 and 1, got -0.1; for example "
             "0.568"},
        Case{"NegativeCount", "input_len: 8", "input_len: -8",
             "c.yaml:13:29: evals.serving[0].input_len: must be a whole number between 1 and 10000000, got "
             "-8; for example "
             "1024"},
        Case{"HugeCount", "input_len: 8", "num_prompts: 99999999999999999999",
             "c.yaml:13:31: evals.serving[0].num_prompts: must be a whole number between 1 and 10000000, got "
             "99999999999999999999; for example 512"},
        Case{"FractionAsCount", "input_len: 8", "input_len: 8.5",
             "c.yaml:13:29: evals.serving[0].input_len: must be a whole number between 1 and 10000000, got "
             "8.5; for example "
             "1024"},
        Case{"LeadingZero", "input_len: 8", "input_len: 010",
             "c.yaml:13:29: evals.serving[0].input_len: must be a whole number between 1 and 10000000, got "
             "010; for example "
             "1024"},
        Case{"WordAsCount", "kind: bundled", "kind: bundled\n  tensor_parallel_size: two",
             "c.yaml:6:25: engine.tensor_parallel_size: must be a whole number between 1 and 1024, got two; "
             "for example 2"},
        Case{"CountInQuotes", "kind: bundled", "kind: bundled\n  tensor_parallel_size: \"2\"",
             "c.yaml:6:25: engine.tensor_parallel_size: must be a whole number between 1 and 1024, got "
             "\"2\"; write 2 "
             "without quotes"},
        Case{"RateZero", "input_len: 8", "request_rate: 0",
             "c.yaml:13:32: evals.serving[0].request_rate: must be a number above 0, or inf, got 0; for "
             "example 10"},
        Case{"YesIsNoBoolean", "input_len: 8", "ignore_eos: yes",
             "c.yaml:13:30: evals.serving[0].ignore_eos: must be true or false, got yes; for example true"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Meaning, BadConfig,
    ::testing::Values(
        Case{"ToleranceWithoutKind", "{kind: absolute, value: 0.05}", "{value: 0.05}",
             std::string("c.yaml:11:16: evals.gpqa.tolerance: needs kind: absolute or relative; ") +
                 kTolerance},
        Case{"ToleranceAsNumber", "{kind: absolute, value: 0.05}", "0.05",
             std::string("c.yaml:11:16: evals.gpqa.tolerance: must name its kind, got 0.05; write {kind: "
                         "absolute, value: "
                         "0.05} or {kind: relative, value: 0.05}; ") +
                 kTolerance},
        Case{"ThresholdWithoutTolerance", "    tolerance: {kind: absolute, value: 0.05}\n", "",
             std::string(
                 "c.yaml:10:16: evals.gpqa.threshold: needs tolerance: {kind: ..., value: ...} beside it; ") +
                 kTolerance},
        Case{"UnknownToleranceKind", "kind: absolute", "kind: absolut",
             "c.yaml:11:23: evals.gpqa.tolerance.kind: must be one of absolute, relative, got absolut; did "
             "you mean "
             "absolute?"},
        Case{"ToleranceSwallowsThreshold", "value: 0.05", "value: 0.6",
             "c.yaml:11:16: evals.gpqa.tolerance: 0.6 takes the whole threshold of 0.568 away, so that any "
             "score "
             "would pass"},
        Case{"BrokenLineAboveThreshold", kThreshold, "threshold: 0.3",
             "c.yaml:10:16: evals.gpqa.broken_below: is 0.35, above the threshold of 0.3; write a smaller "
             "broken_below"},
        Case{"NeitherVariantNorDataset", "dataset: q.csv", "subset: 2",
             "c.yaml:9:5: evals.gpqa: needs variant (diamond, main, extended: the published question sets), "
             "dataset (a CSV of your own), or both (dataset is then the published zip or a folder)"},
        Case{
            "CutPin", "dataset: q.csv", "dataset: q.csv\n    dataset_sha256: 461ae7",
            "c.yaml:10:21: evals.gpqa.dataset_sha256: must be 64 hexadecimal digits, got 461ae7; for example "
            "461ae7329f15a3e35f8184d2dac24b990f34fdf12f366ca4062d8e6638cd08dc"},
        Case{"StopWithoutError", "dataset: q.csv",
             "dataset: q.csv\n    stop: when-certain\n    stop_error: 0",
             "c.yaml:11:17: evals.gpqa.stop_error: must be above 0: without any error nothing is certain "
             "before "
             "the end"},
        Case{"NoHardwareOfThatName", "hardware: cpu", "hardware: gxf950",
             "c.yaml:3:11: hardware: must be one of cpu, h100, h200, b200, gfx90a, gfx942, gfx950, gfx1250, "
             "got gxf950; did "
             "you mean gfx950?"},
        Case{"UnsafeName", "name: tiny", "name: Tiny MoE/1",
             "c.yaml:2:7: name: must be a name of at most 40 lower-case letters, digits, ., - and _, got "
             "Tiny MoE/1; for "
             "example tiny-moe-1"},
        Case{"UnsafeShapeName", "name: s1", "name: ../s1",
             "c.yaml:13:14: evals.serving[0].name: must be a name of at most 40 lower-case letters, digits, "
             "- and _, got "
             "../s1; for example s1"},
        Case{"ShapeNamedTwice", "{name: s1, input_len: 8}", "{name: s1}\n    - {name: s1}",
             "c.yaml:14:14: evals.serving[1].name: s1 names two shapes; results are kept by name, so choose "
             "another"},
        Case{"EnvironmentIsAList", "kind: bundled", "kind: bundled\n  env: [A=1]",
             "c.yaml:6:8: engine.env: must be a map of names to values, got a list; for example "
             "{HIP_VISIBLE_DEVICES: "
             "\"0,1\"}"},
        Case{"EnvironmentValueIsAMap", "kind: bundled", "kind: bundled\n  env: {A: {b: 1}, B: [1], C: ~}",
             "c.yaml:6:12: engine.env.A: must be text, a number, true or false, got a map; write \"\" for an "
             "empty value and "
             "quotes around a list or map\n"
             "c.yaml:6:23: engine.env.B: must be text, a number, true or false, got a list; write \"\" for "
             "an empty value "
             "and quotes around a list or map\n"
             "c.yaml:6:31: engine.env.C: must be text, a number, true or false, got nothing; write \"\" for "
             "an empty value "
             "and quotes around a list or map"},
        Case{"EnvironmentName", "kind: bundled", "kind: bundled\n  env: {A-B: 1}",
             "c.yaml:6:9: engine.env.A-B: is no name of an environment variable; use letters, digits and _"},
        Case{"OwnedFlags", "kind: bundled",
             "kind: bundled\n  extra_args: [--port=8000, --tensor_parallel_size, \"2\"]",
             "c.yaml:6:16: engine.extra_args[0]: --port=8000 is not for extra_args; assay chooses the port; "
             "remove it\n"
             "c.yaml:6:29: engine.extra_args[1]: --tensor_parallel_size is not for extra_args; write "
             "engine.tensor_parallel_size"},
        Case{"CommandLineAsText", "kind: bundled", "kind: command\n  argv: vllm serve",
             "c.yaml:6:9: engine.argv: must be a list of arguments, one item each, got vllm serve; for "
             "example [vllm, serve, "
             "\"{model}\", --port, \"{port}\"]"},
        Case{"CommandWithoutArgv", "kind: bundled", "kind: command",
             "c.yaml:5:3: engine.argv: is missing; kind: command needs the server's command line, for "
             "example [vllm, serve, "
             "\"{model}\", --port, \"{port}\"]"},
        Case{"CommandWithoutPort", "kind: bundled", "kind: command\n  argv: [vllm, serve, --port, \"8000\"]",
             "c.yaml:6:9: engine.argv: has no {port}; assay chooses a free port, so write for example "
             "--port, \"{port}\""},
        Case{"MisspeltPlaceholder", "kind: bundled",
             "kind: command\n  argv: [vllm, \"{port}\", \"{modle}\", '{\"a\": 1}']",
             "c.yaml:6:26: engine.argv[2]: {modle} is no placeholder; did you mean {model}?"},
        Case{"TensorParallelUnused", "kind: bundled",
             "kind: command\n  argv: [vllm, \"{port}\"]\n  tensor_parallel_size: 2",
             "c.yaml:7:25: engine.tensor_parallel_size: is not used by argv; put {tp} where the server's "
             "flag takes it"},
        Case{"ArgvForBundled", "kind: bundled", "kind: bundled\n  argv: [x]",
             "c.yaml:6:9: engine.argv: is for kind: command; the bundled engine takes further flags in "
             "extra_args"},
        Case{"ReadyPath", "kind: bundled", "kind: bundled\n  ready_path: health",
             "c.yaml:6:15: engine.ready_path: must start with /, got health; for example /health"},
        Case{"NothingToMeasure",
             "  gpqa:\n    dataset: q.csv\n    threshold: 0.568\n    tolerance: {kind: absolute, value: "
             "0.05}\n"
             "  serving:\n    - {name: s1, input_len: 8}\n",
             "  serving: []\n", "c.yaml:8:3: evals: measures nothing; add gpqa, serving or both"},
        Case{"PinnedWithoutFile", "name: tiny", "name: tiny\ngate: {baseline: {policy: pinned}}",
             "c.yaml:3:18: gate.baseline: policy pinned needs pinned_file: the record of the run to compare "
             "with"},
        Case{"UnknownPrimaryMetric", "name: tiny",
             "name: tiny\ngate: {performance: {primary: [ttft_p50], min_change: {tpot_p5_ms: 1}}}",
             "c.yaml:3:32: gate.performance.primary[0]: must be a metric of a serving benchmark, got "
             "ttft_p50; did "
             "you mean ttft_p50_ms?\n"
             "c.yaml:3:56: gate.performance.min_change.tpot_p5_ms: unknown name; did you mean tpot_p50_ms?"}),
    [](const auto& test) { return test.param.name; });

TEST(BadConfig, AllMistakesOfAFileAreToldAtOnce) {
  ConfigFolder folder;
  const Path file = folder.Write("c.yaml",
                                 "schema: assay/config/1\n"
                                 "name: A\n"
                                 "engine: {model: m, tensor_parallel_size: 0}\n"
                                 "evals: {gpqa: {dataset: q.csv, repeats: x}}\n");
  EXPECT_EQ(
      folder.ErrorOf(LoadConfig(file)),
      "c.yaml:1:1: hardware: is missing; for example hardware: gfx950\n"
      "c.yaml:2:7: name: must be a name of at most 40 lower-case letters, digits, ., - and _, got A; for "
      "example a\n"
      "c.yaml:3:42: engine.tensor_parallel_size: must be a whole number between 1 and 1024, got 0; for "
      "example 2\n"
      "c.yaml:4:41: evals.gpqa.repeats: must be a whole number between 1 and 1000, got x; for example 8");
}

// Whatever an editor left behind is read or answered, never a crash.
TEST(BadConfig, EveryTruncatedOrDamagedConfigIsReadOrAnswered) {
  ConfigFolder folder;
  const std::string whole = kExampleConfig;
  const std::string damage = "{}[]:,-#&*!|>'\"%@`\t\n 0\xff";
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = damage[i % damage.size()];
    for (const std::string& text : {whole.substr(0, i), damaged}) {
      const auto config = LoadConfig(folder.Write("c.yaml", text));
      if (!config) {
        EXPECT_EQ(folder.ErrorOf(config).find("c.yaml:"), 0u) << text << "\n" << config.error().message;
      }
    }
  }
}

TEST(BadConfig, MissingFileNamesTheNearestOne) {
  ConfigFolder folder;
  folder.Write("tiny-moe.yaml", kExampleConfig);
  EXPECT_EQ(folder.ErrorOf(LoadConfig(folder.path() / "tiny-mo.yaml")),
            "tiny-mo.yaml: no such file; did you mean tiny-moe.yaml?");
}

TEST(BadConfig, FolderIsNoConfig) {
  ConfigFolder folder;
  folder.Write("sub/c.yaml", kExampleConfig);
  EXPECT_EQ(folder.ErrorOf(LoadConfig(folder.path() / "sub")), "sub: is a folder, a file is needed");
}

TEST(BadConfig, SuiteAndBaseAreNamedForWhatTheyAre) {
  ConfigFolder folder;
  const Path suite = folder.Write("s.yaml", "schema: assay/suite/1\nname: smoke\n");
  const Path base = folder.Write("b.yaml", "schema: assay/base/1\n");
  EXPECT_EQ(folder.ErrorOf(LoadConfig(suite)),
            "s.yaml: is a suite; name a config and give this with --suite");
  EXPECT_EQ(folder.ErrorOf(LoadConfig(base)), "b.yaml: is a base; name a config that extends it");
}

TEST(BadConfig, ControlCharactersDoNotReachTheTerminal) {
  ConfigFolder folder;
  const Path file = folder.Write("c.yaml", ExampleWith("name: tiny", "name: \"a\\x1b[31mb\""));
  EXPECT_EQ(folder.ErrorOf(LoadConfig(file)).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace assay::runner
