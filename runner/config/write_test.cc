#include "runner/config/config_test_support.h"

namespace assay::runner {
namespace {

Config Load(const std::string& text) {
  ConfigFolder folder;
  const auto config = LoadConfig(folder.Write("c.yaml", text));
  EXPECT_TRUE(config) << config.error().message << "\n" << text;
  return config.value_or(Config());
}

TEST(ToYaml, GivesTheSameConfigWhenRead) {
  const std::string text = ExampleWith("kind: bundled",
                                       "kind: command\n"
                                       "  argv: [llama-server, --port, \"{port}\", '{\"a\": 1}', \"it's\", "
                                       "\"\\t\", \"-1\", \"true\", \"\xC3\xA4: #\"]\n"
                                       "  env: {A: 1, B: \"true\", C: \"\", D: \"a b\"}\n"
                                       "  ready_timeout_s: 12.5");
  const std::string once = ToYaml(Load(text));
  const Config again = Load(once);
  EXPECT_EQ(ToYaml(again), once);
  EXPECT_EQ(again.engine.argv[3], "{\"a\": 1}");
  EXPECT_EQ(again.engine.argv[5], "\t");
  EXPECT_EQ(again.engine.env.at("B"), "true");
  EXPECT_EQ(again.engine.env.at("C"), "");
  EXPECT_EQ(again.engine.ready_timeout_s, 12.5);
  EXPECT_EQ(again.gate.threshold->tolerance, 0.05);
}

TEST(ToYaml, ShowsDefaultsFilledIn) {
  const std::string yaml = ToYaml(Load(kExampleConfig));
  EXPECT_NE(yaml.find("schema: assay/config/1\nname: tiny\nhardware: cpu\nengine:\n  kind: bundled\n"),
            std::string::npos)
      << yaml;
  EXPECT_NE(yaml.find("    - name: s1\n      dataset: random\n      input_len: 8\n      output_len: 128\n"),
            std::string::npos)
      << yaml;
  EXPECT_NE(yaml.find("    tolerance:\n      kind: absolute\n      value: 0.05\n"), std::string::npos)
      << yaml;
  EXPECT_NE(yaml.find("      request_rate: inf\n"), std::string::npos) << yaml;
}

struct HashCase {
  const char* name;
  std::string from, to;
  bool changes;
};

class ConfigHashOf : public ::testing::TestWithParam<HashCase> {};

TEST_P(ConfigHashOf, ChangesWithTheMeasurementOnly) {
  const std::string before = ConfigHash(Load(kExampleConfig));
  const std::string after = ConfigHash(Load(ExampleWith(GetParam().from, GetParam().to)));
  EXPECT_EQ(before != after, GetParam().changes);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ConfigHashOf,
    ::testing::Values(
        HashCase{"Model", "models/tiny", "models/other", true},
        HashCase{"SameModelElsewhere", "models/tiny", "/srv/hub/models/tiny", false},
        HashCase{"SameModelFromBelow", "models/tiny", "../../models/tiny/", false},
        HashCase{"TensorParallel", "kind: bundled", "kind: bundled\n  tensor_parallel_size: 2", true},
        HashCase{"DefaultWrittenOut", "kind: bundled", "kind: bundled\n  tensor_parallel_size: 1", false},
        HashCase{"Environment", "kind: bundled", "kind: bundled\n  env: {A: 1}", true},
        HashCase{"Binary", "kind: bundled", "kind: bundled\n  binary: /opt/assay-engine", false},
        HashCase{"Timeouts", "kind: bundled", "kind: bundled\n  ready_timeout_s: 5", false},
        HashCase{"Dataset", "q.csv", "r.csv", true},
        HashCase{"Repeats", "dataset: q.csv", "dataset: q.csv\n    repeats: 2", true},
        HashCase{"ServingShape", "input_len: 8", "input_len: 9", true},
        HashCase{"Threshold", "threshold: 0.568", "threshold: 0.5", false},
        HashCase{"Tolerance", "kind: absolute", "kind: relative", false},
        HashCase{"Gate", "name: tiny", "name: tiny\ngate: {accuracy: {margin: 0.1}}", false},
        HashCase{"Description", "name: tiny", "name: tiny\ndescription: x", false}),
    [](const auto& test) { return test.param.name; });

// Stored baselines are found by this hash: a change here orphans them all. See kHashVersion in write.cc.
TEST(ConfigHash, StaysWhatItWas) {
  EXPECT_EQ(ConfigHash(Load(kExampleConfig)),
            "e994f5e29154e018a9e92c1c9063f6c0a99c519c7705ee1633f85cefd793c5a9");
}

TEST(ConfigHash, ServersThatDifferOnlyInTheProgramsFolderAreOne) {
  const auto with = [](const std::string& program) {
    return ConfigHash(
        Load(ExampleWith("kind: bundled", "kind: command\n  argv: [" + program + ", \"{port}\"]")));
  };
  EXPECT_EQ(with("/opt/a/vllm"), with("vllm"));
  EXPECT_NE(with("vllm"), with("sglang"));
}

}  // namespace
}  // namespace assay::runner
