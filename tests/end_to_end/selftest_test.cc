// The gate is tested by faults that are planted on purpose; the program that users run has none to plant.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "runner/cli/exit_code.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

const std::string kEngine = std::string(ASSAY_BIN_DIR) + "/assay-engine";
const std::string kFaultyEngine = std::string(ASSAY_BIN_DIR) + "/assay-engine-faulty";

class SelftestTest : public AssayTest {
 protected:
  // The smallest cell: no benchmark, so that no clock decides.
  std::string SmallConfig() const {
    return Write(
        "selftest.yaml",
        fmt::format("schema: assay/config/1\n"
                    "name: selftest\n"
                    "hardware: cpu\n"
                    "engine: {{kind: bundled, model: {0}/models/tiny-moe, model_id: {1}}}\n"
                    "evals:\n"
                    "  gpqa: {{dataset: {0}/models/tiny-moe/questions.csv, temperature: 0, max_tokens: 256, "
                    "concurrency: 24, subset: 24}}\n"
                    "gate: {{accuracy: {{margin: 0.2}}, performance: {{min_baseline_runs: 1}}}}\n",
                    ASSAY_SOURCE_DIR, model_));
  }
};

TEST_F(SelftestTest, CatchesPlantedFaultsForTheRightReason) {
  if (!std::filesystem::exists(kFaultyEngine)) GTEST_SKIP() << "built with ASSAY_FAULTS=OFF";
  EXPECT_EQ(Run({"selftest", "--config", SmallConfig(), "--faults", "routing-bit-31,crash:10,wrong-model",
                 "--out", "out/faults", "--format", "markdown"}),
            runner::kExitPass)
      << Err() << Out();
  for (const char* row : {"| `routing-bit-31` |", "| `crash:10` |", "| `wrong-model` |"}) {
    const size_t begin = Out().find(row);
    ASSERT_NE(begin, std::string::npos) << Out();
    EXPECT_NE(Out().substr(begin, Out().find('\n', begin) - begin).find("| caught |"), std::string::npos)
        << Out();
  }
  EXPECT_NE(Out().find("3 faults: 3 caught for the right reason."), std::string::npos) << Out();

  const auto record = record::LoadRunRecord(folder_ / "out/faults/crash-10/record.json");
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_NE(record->cells.at(0).fingerprint.engine.find("+planted:crash:10"), std::string::npos)
      << "nobody must take this engine for another";
}

TEST_F(SelftestTest, EqualArmsRaiseNoAlarm) {
  EXPECT_EQ(Run({"selftest", "--aa", "2", "--config", SmallConfig(), "--out", "out/equal"}),
            runner::kExitPass)
      << Err() << Out();
  EXPECT_NE(Out().find("2 decisions on equal arms: 2 PASS"), std::string::npos) << Out();
}

TEST_F(SelftestTest, RefusesAFaultThatIsNone) {
  EXPECT_EQ(Run({"selftest", "--faults", "top3"}), runner::kExitUsage);
  EXPECT_NE(Err().find("did you mean top-3?"), std::string::npos) << Err();
}

TEST(OrdinaryEngine, HasNoFaultToPlant) {
  testing::TempDir folder;
  testing::Program engine({kEngine, "serve", "--plant", "crash"}, {}, folder.path().string());
  EXPECT_EQ(engine.Wait(), 2);
  EXPECT_NE(engine.Err().find("--plant: unknown"), std::string::npos) << engine.Err();

  const auto program = ReadFile(kEngine);
  ASSERT_TRUE(program) << program.error().message;
  for (const char* text : {"--plant", "PLANTED FAULT", "routing-bit-31"})
    EXPECT_EQ(program->find(text), std::string::npos) << text;
}

TEST(FaultyEngine, SaysWhatIsPlanted) {
  if (!std::filesystem::exists(kFaultyEngine)) GTEST_SKIP() << "built with ASSAY_FAULTS=OFF";
  testing::TempDir folder;
  testing::Program engine({kFaultyEngine, "--version", "--plant", "stall:7"}, {}, folder.path().string());
  EXPECT_EQ(engine.Wait(), 0);
  EXPECT_NE(engine.Out().find("+planted:stall:7"), std::string::npos) << engine.Out();
  EXPECT_NE(engine.Err().find("PLANTED FAULT stall"), std::string::npos) << engine.Err();

  testing::Program unknown({kFaultyEngine, "--version", "--plant", "stal"}, {}, folder.path().string());
  EXPECT_EQ(unknown.Wait(), 2);
  EXPECT_NE(unknown.Err().find("no such fault"), std::string::npos) << unknown.Err();
}

}  // namespace
}  // namespace assay
