#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "record/json_text.h"
#include "record/run_record.h"
#include "testing/temp_dir.h"

namespace assay::record {
namespace {

using ::testing::HasSubstr;

RunRecord FullRecord() {
  RunRecord run;
  run.id = "20261130-155448-1a2b";
  run.created = "2026-11-30T15:54:48Z";
  run.branch = "main";
  run.command = {"assay", "run", "configs/cpu/tiny-moe.yaml"};
  CellRecord cell;
  cell.key = "tiny-moe";
  cell.config_hash = "c0ffee";
  cell.fingerprint.hardware = "cpu";
  cell.fingerprint.devices = 2;
  cell.server.argv = {"assay-engine", "serve"};
  cell.server.env = {{"A", "1"}};
  cell.server.failure =
      ServerFailure{"crashed", "gpqa", "it crashed", "signal 11", false, {"line 1", "line 2"}};
  AccuracyRecord accuracy;
  accuracy.grader = "strict";
  accuracy.repeats = 2;
  accuracy.questions = 1;
  accuracy.complete = true;
  QuestionSample sample;
  sample.id = "rec1";
  sample.repeat = 1;
  sample.strict = "B";
  sample.correct = true;
  sample.latency_ms = 12.345;
  accuracy.samples = {sample};
  cell.accuracy = accuracy;
  ServingRecord serving;
  serving.name = "1k1k";
  serving.max_concurrency = 8;
  serving.complete = true;
  serving.metrics = {{"ttft_p50_ms", "ms", Direction::kLowerIsBetter, 3.25, 64}};
  RequestTiming request;
  request.planned_s = 0.1;
  request.first_chunk_s = 0.123456;
  request.chunk_gaps_ms = {1.5F, 2.25F};
  request.output_tokens = 3;
  serving.requests = {request};
  cell.serving = {serving};
  run.cells = {cell};
  AbRecord ab;
  ab.base = {"base", "git main", "0123abcd"};
  ab.head = {"head", "program /opt/engine", ""};
  ab.error = 0.05;
  ab.looks = {4, 5};
  ab.runs = {{1, "head"}};
  run.ab = ab;
  return run;
}

TEST(RunRecordJson, SurvivesWritingAndReading) {
  const RunRecord before = FullRecord();
  const std::string text = JsonText(ToJson(before));
  const Result<RunRecord> after = ParseRunRecord(text, "record.json");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(JsonText(ToJson(*after)), text);
  const CellRecord& cell = after->cells[0];
  EXPECT_EQ(cell.fingerprint, before.cells[0].fingerprint);
  EXPECT_EQ(cell.accuracy->samples[0].id, "rec1");
  EXPECT_TRUE(cell.accuracy->samples[0].correct);
  EXPECT_EQ(cell.serving[0].max_concurrency, 8);
  EXPECT_EQ(cell.serving[0].metrics[0].direction, Direction::kLowerIsBetter);
  EXPECT_EQ(cell.serving[0].metrics[0].value, 3.25);
  EXPECT_EQ(cell.serving[0].requests[0].chunk_gaps_ms, (std::vector<float>{1.5F, 2.25F}));
  EXPECT_EQ(cell.serving[0].requests[0].first_chunk_s, 0.123456);
  EXPECT_EQ(cell.server.failure->log_tail.size(), 2u);
  ASSERT_TRUE(after->ab);
  EXPECT_EQ(after->ab->base.commit, "0123abcd");
  EXPECT_EQ(after->ab->looks, (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(after->ab->runs.at(0).arm, "head");
}

TEST(RunRecordJson, SurvivesTheDisk) {
  const testing::TempDir folder;
  ASSERT_TRUE(SaveRunRecord(FullRecord(), folder / "record.json"));
  const Result<RunRecord> loaded = LoadRunRecord(folder / "record.json");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->id, "20261130-155448-1a2b");
}

TEST(RunRecordJson, PassesOverKeysOfALaterAssay) {
  nlohmann::json json = ToJson(FullRecord());
  json["cells"][0]["power_w"] = 700;
  EXPECT_TRUE(ParseRunRecord(json.dump(), "record.json"));
}

TEST(RunRecordJson, NamesThePathOfWhatIsWrong) {
  const struct {
    const char* name;
    const char* pointer;
    nlohmann::json value;  // null removes
    const char* message;
  } cases[] = {
      {"missing", "/cells/0/accuracy/samples/0/correct", nullptr,
       "r.json: cells[0].accuracy.samples[0].correct: missing"},
      {"wrong type", "/cells/0/serving/0/requests/0/output_tokens", "three",
       "r.json: cells[0].serving[0].requests[0].output_tokens: expected a whole number, got \"three\""},
      {"fraction", "/cells/0/accuracy/repeats", 1.5,
       "r.json: cells[0].accuracy.repeats: expected a whole number, got 1.5"},
      {"too big", "/cells/0/accuracy/repeats", 4294967296,
       "r.json: cells[0].accuracy.repeats: expected a whole number in range"},
      {"unknown enum", "/cells/0/serving/0/metrics/0/direction", "up",
       "r.json: cells[0].serving[0].metrics[0].direction: expected a known name, got \"up\""},
      {"text in a list", "/cells/0/serving/0/requests/0/chunk_gaps_ms/1", "x",
       "chunk_gaps_ms[1]: expected a number"},
      {"other schema", "/schema", "assay/record/2",
       "this assay reads assay/record/1, the file says \"assay/record/2\""},
      {"no schema", "/schema", nullptr, "schema: missing"},
  };
  for (const auto& c : cases) {
    nlohmann::json json = ToJson(FullRecord());
    const nlohmann::json::json_pointer pointer(c.pointer);
    if (c.value.is_null()) {
      json[pointer.parent_pointer()].erase(pointer.back());
    } else {
      json[pointer] = c.value;
    }
    const Result<RunRecord> parsed = ParseRunRecord(json.dump(), "r.json");
    ASSERT_FALSE(parsed) << c.name;
    EXPECT_THAT(parsed.error().message, HasSubstr(c.message)) << c.name;
  }
}

TEST(RunRecordJson, RefusesHalfAFile) {
  const std::string text = JsonText(ToJson(FullRecord()));
  const Result<RunRecord> parsed = ParseRunRecord(text.substr(0, text.size() / 2), "cut.json");
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().message, HasSubstr("cut.json: not readable as JSON"));
}

TEST(RunRecordJson, LeavesOutWhatIsNotANumber) {
  RunRecord run = FullRecord();
  run.cells[0].serving[0].metrics[0].value = std::nan("");
  run.cells[0].serving[0].client_cpu_share = std::numeric_limits<double>::infinity();
  const nlohmann::json json = ToJson(run);
  EXPECT_FALSE(json["cells"][0]["serving"][0]["metrics"][0].contains("value"));
  EXPECT_FALSE(json["cells"][0]["serving"][0].contains("client_cpu_share"));
  EXPECT_TRUE(ParseRunRecord(json.dump(), "r"));
}

TEST(RunRecordJson, MakesServerBytesSafe) {
  RunRecord run = FullRecord();
  run.cells[0].server.failure->log_tail = {"bad \xff byte \x1b[31mred"};
  const std::string text = ToJson(run).dump();
  EXPECT_THAT(text, HasSubstr("\xEF\xBF\xBD"));
}

TEST(RunRecordJson, StaysSmall) {
  RunRecord run = FullRecord();
  CellRecord& cell = run.cells[0];
  QuestionSample sample = cell.accuracy->samples[0];
  sample.id = "rec06pnAkLOr2t2mp";
  sample.domain = "Chemistry";
  sample.band = "Hard undergraduate level";
  sample.permutation = "3102";
  sample.expected = sample.compat = "B";
  sample.finish_reason = "stop";
  sample.latency_ms = 1234.5678912345;
  cell.accuracy->samples.assign(448, sample);
  RequestTiming request = cell.serving[0].requests[0];
  request.chunk_gaps_ms.assign(127, 12.3456789F);
  cell.serving[0].requests.assign(300, request);
  EXPECT_LT(JsonText(ToJson(run)).size(), 600'000u);
}

TEST(JsonText, PutsEachSampleOnALine) {
  RunRecord run = FullRecord();
  run.cells[0].accuracy->samples.assign(3, run.cells[0].accuracy->samples[0]);
  const std::string text = JsonText(ToJson(run));
  size_t lines = 0;
  for (size_t at = 0; (at = text.find("\n     {\"correct\"", at)) != std::string::npos; ++at) ++lines;
  EXPECT_EQ(lines, 3u) << text;
}

}  // namespace
}  // namespace assay::record
