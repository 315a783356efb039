// The main job on the real thing: the bundled engine serves the bundled model.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "base/text.h"
#include "runner/cli/exit_code.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

// 424 of 448, measured with Hugging Face's own implementation from the stored weights
// (models/tiny-moe/README.md).
constexpr double kFrameworkScore = 424.0 / 448.0;

class BundledEngineTest : public AssayTest {
 protected:
  // A config of this test's own; the server is found in the process table by its model id.
  std::string EngineConfig(int tensor_parallel_size, int repeats) const {
    return fmt::format(
        "schema: assay/config/1\n"
        "name: tiny-moe\n"
        "hardware: cpu\n"
        "engine:\n"
        "  kind: bundled\n"
        "  model: {0}/models/tiny-moe\n"
        "  model_id: {1}\n"
        "  tensor_parallel_size: {2}\n"
        "evals:\n"
        "  gpqa: {{dataset: {0}/models/tiny-moe/questions.csv, temperature: 0, max_tokens: 256, concurrency: "
        "32, "
        "repeats: {3}}}\n"
        "gate: {{baseline: {{policy: none}}}}\n",
        ASSAY_SOURCE_DIR, model_, tensor_parallel_size, repeats);
  }

  record::AccuracyRecord RunAccuracy(int tensor_parallel_size) {
    const std::string config =
        Write(fmt::format("tp{}.yaml", tensor_parallel_size), EngineConfig(tensor_parallel_size, 1));
    EXPECT_EQ(Run({"run", config}), runner::kExitPass) << Err() << Out();
    return Record().cells.at(0).accuracy.value();
  }
};

TEST_F(BundledEngineTest, ScoresWhatTheTrainingFrameworkScoredWhateverTheTensorParallelDegree) {
  const record::AccuracyRecord one = RunAccuracy(1);
  const record::AccuracyRecord two = RunAccuracy(2);
  const record::AccuracyCounts counts = record::Count(one);
  EXPECT_EQ(counts.samples, 448);
  EXPECT_NEAR(static_cast<double>(counts.correct) / 448.0, kFrameworkScore, 0.02);
  ASSERT_EQ(one.samples.size(), two.samples.size());
  for (size_t i = 0; i < one.samples.size(); ++i) {
    EXPECT_EQ(one.samples[i].id, two.samples[i].id);
    EXPECT_EQ(one.samples[i].strict, two.samples[i].strict) << one.samples[i].id;
    EXPECT_EQ(one.samples[i].output_tokens, two.samples[i].output_tokens) << one.samples[i].id;
  }
}

// ASSAY_TEST_KILLS: how many moments; the default keeps the test short.
TEST_F(BundledEngineTest, KilledAtAnyMomentIsNeverAPass) {
  const char* asked = std::getenv("ASSAY_TEST_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 5;
  std::mt19937 random(20261130);  // NOLINT: the same moments in every run
  std::map<std::string, int> kinds;
  for (int i = 0; i < kills; ++i) {
    const std::string out = fmt::format("out/kill{}", i);
    testing::Program run(Argv({"run", Write("kill.yaml", EngineConfig(2, 8)), "--out", out}), Env(),
                         folder_.path().string());
    std::vector<pid_t> engine;
    while (engine.empty() && run.Running()) engine = testing::ProcessesWith(model_);
    ASSERT_FALSE(engine.empty()) << run.Err();
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::uniform_int_distribution<int>(0, 2000)(random)));
    for (const pid_t pid : engine) ::kill(pid, SIGKILL);

    const int exit_code = run.Wait();
    EXPECT_TRUE(exit_code == runner::kExitFail || exit_code == runner::kExitInfrastructure)
        << exit_code << run.Err();
    EXPECT_TRUE(testing::ProcessesWith(model_).empty());
    const auto record = record::LoadRunRecord(folder_ / (out + "/record.json"));
    ASSERT_TRUE(record) << record.error().message;
    ASSERT_TRUE(record->cells.at(0).server.failure) << "killed and not noticed";
    const record::ServerFailure& failure = *record->cells[0].server.failure;
    EXPECT_NE(failure.exit.find("signal 9"), std::string::npos) << failure.exit;
    ++kinds[failure.stage + ": " + failure.kind];
    EXPECT_EQ(run.Out().find("\nPASS"), std::string::npos) << run.Out();
  }
  for (const auto& [kind, times] : kinds) std::printf("%3d  %s\n", times, kind.c_str());
}

}  // namespace
}  // namespace assay
