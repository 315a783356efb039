// The GPQA commands from outside: data, eval, grade, resume, and what none of them may write.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/text.h"
#include "runner/cli/exit_code.h"
#include "testing/scripted_server.h"
#include "testing/zip_file.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScriptedServer;

class GpqaTest : public AssayTest {
 protected:
  void StartServer(testing::ScriptedOptions options) {
    options.model = "some/model";
    auto server = ScriptedServer::Start(options);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
  }

  // Sixty made-up questions whose text would be found anywhere.
  std::string Questions() const { return Write("made-up.csv", testing::MadeUpQuestions(60)); }

  std::vector<std::string> EvalArguments(std::vector<std::string> flags) const {
    std::vector<std::string> arguments = {"eval",      "gpqa",     "--base-url", server_->BaseUrl() + "/v1",
                                          "--dataset", Questions()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return arguments;
  }

  record::RunRecord RecordIn(const std::string& out) const {
    auto record = record::LoadRunRecord(folder_ / out / "record.json");
    EXPECT_TRUE(record) << (record ? "" : record.error().message) << Err();
    return record.value_or(record::RunRecord{});
  }

  // Files below the test's folder, the data sets aside, that hold text of a question or a prompt.
  std::vector<std::string> FilesWithText() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      if (!entry.is_regular_file() || entry.path().extension() == ".csv") continue;
      const std::string content = ReadFile(entry.path()).value_or("");
      for (const char* text : {"comes after", "Which number", "Express your final answer"}) {
        if (content.find(text) == std::string::npos) continue;
        found.push_back(entry.path().string());
        break;
      }
    }
    return found;
  }

  std::unique_ptr<ScriptedServer> server_;
};

TEST_F(GpqaTest, DataStoresTheZipWhereAVariantIsFound) {
  const std::string zip = testing::ZipOf({{"dataset/gpqa_diamond.csv", testing::MadeUpQuestions(198)},
                                          {"dataset/gpqa_main.csv", testing::MadeUpQuestions(448)},
                                          {"dataset/gpqa_extended.csv", testing::MadeUpQuestions(546)}},
                                         "deserted-untie-orchid");
  EXPECT_EQ(Run({"data", "gpqa", "--from", Write("dataset.zip", zip)}), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("diamond   198 questions"));
  EXPECT_THAT(Out(), HasSubstr("extended  546 questions"));

  Scene scene{.gpqa = "subset: 3", .serving = ""};
  std::string config = ReplaceAll(Config(scene), "dataset: questions.csv", "variant: diamond");
  EXPECT_EQ(Run({"run", Write("variant.yaml", config)}), 0) << Err();
  EXPECT_EQ(Record().cells.at(0).accuracy->dataset, "gpqa_diamond.csv");
  config = ReplaceAll(Config(scene), "dataset: questions.csv", "dataset: dataset.zip, variant: main");
  EXPECT_EQ(Run({"run", Write("zip.yaml", config)}), 0) << Err();
  EXPECT_EQ(Record().cells.at(0).accuracy->dataset, "gpqa_main.csv");
}

TEST_F(GpqaTest, DataSaysWhatIsWrong) {
  EXPECT_EQ(Run({"data", "gpqa", "--from", Write("a.zip", "PK\x03\x04 not really")}), runner::kExitUsage);
  EXPECT_THAT(Err(), HasSubstr("a.zip: is no whole zip archive"));
  EXPECT_EQ(Run({"data", "gpqa", "--from", (folder_ / "none.zip").string()}), runner::kExitUsage);
  EXPECT_THAT(Err(), HasSubstr("none.zip: cannot be read"));
  EXPECT_EQ(Run({"data", "mmlu", "--from", "x"}), runner::kExitUsage);
  EXPECT_EQ(Run({"data", "gpqa", "--from", "http://127.0.0.1:9/dataset.zip"}), runner::kExitInfrastructure);
}

TEST_F(GpqaTest, EvalMeasuresAServerWithoutAConfig) {
  StartServer({.token_interval_ms = 0});
  EXPECT_EQ(Run(EvalArguments({"--out", "out/eval", "--repeats", "2"})), 0) << Err();
  const record::CellRecord cell = RecordIn("out/eval").cells.at(0);
  EXPECT_EQ(cell.server.model_id, "some/model") << "the only one that the server lists";
  EXPECT_EQ(cell.accuracy->samples.size(), 120u);
  EXPECT_TRUE(cell.accuracy->complete);
  for (const char* line :
       {"of 120 samples right (60 questions x 2)", "Wilson 95 %", "of a rerun of these questions",
        "over other questions", "same answers, strict", "by domain: Biology", "0 failed"}) {
    EXPECT_THAT(Out(), HasSubstr(line));
    EXPECT_THAT(ReadFile(folder_ / "out/eval/report.md").value_or(""), HasSubstr(line));
  }
}

TEST_F(GpqaTest, EvalJudgesByThresholdAndByBaseline) {
  StartServer({.token_interval_ms = 0});
  EXPECT_EQ(Run(EvalArguments({"--out", "out/a"})), 0) << Err();
  EXPECT_EQ(Run(EvalArguments({"--out", "out/b", "--baseline", "out/a/record.json"})), 0) << Out() << Err();
  EXPECT_THAT(Out(), HasSubstr("against the baseline"));
  EXPECT_EQ(Run(EvalArguments({"--out", "out/c", "--threshold", "0.9"})), runner::kExitFail);
  EXPECT_EQ(Run(EvalArguments({"--out", "out/d", "--threshold", "0.9", "--tolerance", "0.05"})),
            runner::kExitUsage);
  EXPECT_THAT(Err(), HasSubstr("must be absolute:X or relative:X"));
  EXPECT_EQ(Run(EvalArguments({"--threshold", "nan"})), runner::kExitUsage);
  EXPECT_EQ(Run(EvalArguments({"--temperature", "nan"})), runner::kExitUsage);
}

TEST_F(GpqaTest, EvalNamesAWrongModelOrServer) {
  StartServer({});
  EXPECT_EQ(Run(EvalArguments({"--model", "other"})), runner::kExitUsage);
  EXPECT_THAT(Err(), HasSubstr("has some/model"));
  const auto arguments = EvalArguments({});
  server_.reset();
  EXPECT_EQ(Run(arguments), runner::kExitInfrastructure);
  EXPECT_THAT(Err(), HasSubstr("refused"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST_F(GpqaTest, ManyFailedRequestsMakeTheEvalInvalid) {
  StartServer({.token_interval_ms = 0});
  for (int i = 0; i < 4; ++i) {
    server_->Queue(
        {.status = 400, .content_type = "application/json", .body = R"({"error":{"message":"no"}})"});
  }
  EXPECT_EQ(Run(EvalArguments({"--out", "out/e"})), runner::kExitInvalid);
  EXPECT_THAT(Out(), HasSubstr("4 of 60 requests failed (6.7 %, limit 2.0 %)"));
  EXPECT_THAT(Out(), HasSubstr("4 failed"));
}

TEST_F(GpqaTest, NoTextOfAQuestionIsWrittenUnlessAskedFor) {
  StartServer({.token_interval_ms = 0, .answer = "You asked: Which number comes after? Answer: B"});
  server_->Queue(
      {.status = 400,
       .content_type = "application/json",
       .body = R"({"error":{"message":"bad prompt: Express your final answer as the corresponding"}})"});
  EXPECT_EQ(Run(EvalArguments({"--out", "out/quiet"})), 0) << Err();
  EXPECT_EQ(
      Run({"run", Write("quiet.yaml", ReplaceAll(Config({.serving = ""}), "questions.csv", "made-up.csv"))}),
      0)
      << Err();
  EXPECT_THAT(FilesWithText(), ::testing::IsEmpty());
  EXPECT_THAT(Out() + Err(), Not(HasSubstr("Which number")));

  EXPECT_EQ(Run(EvalArguments({"--out", "out/loud", "--include-text"})), 0) << Err();
  EXPECT_THAT(FilesWithText(), ::testing::UnorderedElementsAre(HasSubstr("loud/record.json"),
                                                               HasSubstr("loud/journal.jsonl")));
  EXPECT_EQ(Run({"run", (folder_ / "quiet.yaml").string(), "--include-text"}), 0) << Err();
  EXPECT_THAT(ReadFile(folder_ / "store.db").value_or(""), Not(HasSubstr("Which number")))
      << "the history never has it";
}

TEST_F(GpqaTest, GradeReadsLinesAndSaysWhichRuleDecided) {
  const std::string file = Write("answers.jsonl",
                                 "{\"id\": \"a\", \"text\": \"The answer is (b).\"}\n\n"
                                 "{\"id\": 7, \"text\": null}\n"
                                 "{\"text\": \"**Answer:** A\"}\n");
  EXPECT_EQ(Run({"grade", file}), 0) << Err();
  const std::vector<std::string> lines = SplitLines(Out());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(
      lines[0],
      R"({"id":"a","strict":"B","strict_rule":"answer is","compat":"T","compat_rule":"first character",)"
      R"("compat_hits":[]})");
  EXPECT_EQ(lines[1],
            R"({"id":7,"strict":"","strict_rule":"","compat":"","compat_rule":"","compat_hits":[]})");
  EXPECT_THAT(lines[2], HasSubstr(R"("compat_rule":"0 emphasised answer","compat_hits":[0,1,12])"));

  testing::Program piped({"sh", "-c", "'" + Argv({})[0] + "' grade < '" + file + "'"}, Env(), folder_.path());
  EXPECT_EQ(piped.Wait(), 0);
  EXPECT_EQ(piped.Out(), Out());
}

TEST_F(GpqaTest, GradeNamesTheLineThatIsNone) {
  EXPECT_EQ(Run({"grade", Write("cut.jsonl", "{\"id\":1,\"text\":\"Answer: A\"}\n{\"id\":2,\"te")}),
            runner::kExitUsage);
  EXPECT_THAT(Out(), HasSubstr("\"strict\":\"A\"")) << "the others are graded";
  EXPECT_THAT(Err(),
              HasSubstr("cut.jsonl:2: is no JSON object with \"text\"; is the line cut, or not UTF-8?"));
  EXPECT_EQ(Run({"grade", Write("empty.jsonl", "\n")}), runner::kExitUsage);
  EXPECT_EQ(Run({"grade", Write("three.jsonl", "{\"text\": 3}\n")}), runner::kExitUsage);
  EXPECT_EQ(Run({"grade", Write("nul.jsonl", std::string("\0\0\n", 3))}), runner::kExitUsage);
  EXPECT_EQ(Run({"grade", (folder_ / "none.jsonl").string()}), runner::kExitUsage);
}

TEST_F(GpqaTest, GradeReadsARecordThatHasItsAnswers) {
  StartServer({.token_interval_ms = 0, .answer = "Answer: B"});
  EXPECT_EQ(Run(EvalArguments({"--out", "out/text", "--include-text"})), 0) << Err();
  const record::RunRecord record = RecordIn("out/text");
  EXPECT_EQ(Run({"grade", (folder_ / "out/text").string()}), 0) << Err();
  EXPECT_EQ(SplitLines(Out()).size(), 60u);
  const record::AccuracyCounts counts = Count(*record.cells[0].accuracy);
  EXPECT_THAT(Err(),
              HasSubstr(fmt::format("strict {0}/60, compat {0}/60, 0 letters differ", counts.correct)));

  EXPECT_EQ(Run(EvalArguments({"--out", "out/none"})), 0) << Err();
  EXPECT_EQ(Run({"grade", (folder_ / "out/none/record.json").string()}), runner::kExitUsage);
  EXPECT_THAT(Err(), HasSubstr("only kept by a run with --include-text"));
}

TEST_F(GpqaTest, EndsWhenTheVerdictIsClear) {
  StartServer({.token_interval_ms = 0});  // always A, which is right one time in four
  EXPECT_EQ(Run(EvalArguments({"--out", "out/s", "--threshold", "0.8", "--stop", "when-certain", "--repeats",
                               "8", "--concurrency", "8"})),
            runner::kExitFail)
      << Err();
  const record::AccuracyRecord accuracy = *RecordIn("out/s").cells.at(0).accuracy;
  ASSERT_TRUE(accuracy.sequential);
  EXPECT_TRUE(accuracy.sequential->stopped);
  EXPECT_LT(accuracy.samples.size(), 240u);
  EXPECT_LE(static_cast<size_t>(accuracy.sequential->sent), accuracy.samples.size() + 8);
  EXPECT_THAT(Out(), HasSubstr("ended early"));
  EXPECT_THAT(Out(), HasSubstr("the score of all would fail"));

  EXPECT_EQ(Run(EvalArguments({"--out", "out/t", "--stop", "when-certain"})), runner::kExitUsage);
  EXPECT_THAT(Err(), HasSubstr("nothing to be certain of"));
  Scene scene{.gpqa = "threshold: 0.9, tolerance: {kind: absolute, value: 0}, repeats: 8", .serving = ""};
  EXPECT_EQ(RunScene(scene, {"--stop", "when-certain"}), runner::kExitFail) << Err();
  EXPECT_TRUE(Record().cells.at(0).accuracy->sequential->stopped);
}

// Everything of a sample but when it was measured.
std::map<std::string, std::string> Answers(const record::RunRecord& record) {
  std::map<std::string, std::string> answers;
  for (record::QuestionSample sample : record.cells.at(0).accuracy->samples) {
    sample.latency_ms = 0;
    answers[sample.id + "." + std::to_string(sample.repeat)] = record::ToJson(sample).dump();
  }
  return answers;
}

TEST_F(GpqaTest, AKilledEvalGoesOnAndAsksNothingTwice) {
  StartServer({.token_interval_ms = 2, .tokens = 6});
  EXPECT_EQ(Run(EvalArguments({"--out", "out/whole", "--concurrency", "3"})), 0) << Err();
  const size_t before = server_->RequestBodies().size();
  {
    testing::Program killed(Argv(EvalArguments({"--out", "out/killed", "--concurrency", "3"})), Env(),
                            folder_.path().string());
    const Path journal = folder_ / "out/killed/journal.jsonl";
    for (int i = 0; i < 5000 && SplitLines(ReadFile(journal).value_or("")).size() < 12; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ::kill(killed.pid(), SIGKILL);
    killed.Wait();
  }
  std::string journal = ReadFile(folder_ / "out/killed/journal.jsonl").value_or("");
  // The first line says what is asked.
  const size_t answered = SplitLines(journal).size() - (journal.ends_with('\n') ? 1 : 2);
  ASSERT_GE(answered, 10u);
  ASSERT_LT(answered, 60u);
  // Cut in the middle of a line, as a machine that lost its power leaves it.
  ASSERT_TRUE(WriteFileAtomic(folder_ / "out/killed/journal.jsonl", journal + R"({"cell":"external.some)"));

  EXPECT_EQ(Run({"eval", "gpqa", "--resume", "out/killed", "--temperature", "0"}), runner::kExitUsage);
  EXPECT_THAT(Err(), HasSubstr("leave --temperature away"));
  const std::string questions = testing::MadeUpQuestions(60);
  Write("made-up.csv", ReplaceAll(questions, "comes after", "comes before"));
  EXPECT_EQ(Run({"eval", "gpqa", "--resume", "out/killed"}), runner::kExitUsage);
  EXPECT_THAT(Err(), HasSubstr("dataset_sha256"));
  Write("made-up.csv", questions);
  EXPECT_EQ(Run({"eval", "gpqa", "--resume", "out/killed"}), 0) << Err();
  EXPECT_EQ(Answers(RecordIn("out/killed")), Answers(RecordIn("out/whole")));
  EXPECT_EQ(RecordIn("out/killed").cells[0].accuracy->kept, static_cast<int64_t>(answered));
  std::map<std::string, int> asked;
  const std::vector<std::string> bodies = server_->RequestBodies();
  for (size_t i = before; i < bodies.size(); ++i) ++asked[bodies[i]];
  EXPECT_EQ(asked.size(), 60u);
  int twice = 0;
  for (const auto& [body, times] : asked) twice += times > 1;
  EXPECT_LE(twice, 3) << "only what was in flight when it was killed";

  EXPECT_EQ(Run({"eval", "gpqa", "--resume", "out/killed"}), runner::kExitUsage);
  EXPECT_THAT(Err(), HasSubstr("is complete; there is nothing to go on with"));
}

TEST_F(GpqaTest, AKilledRunGoesOn) {
  const Scene scene{.gpqa = "repeats: 4"};
  const std::string config = Write("slow.yaml", Config(scene));
  {
    testing::Program killed(Argv({"run", config, "--out", "out/killed"}), Env(), folder_.path().string());
    const Path journal = folder_ / "out/killed/journal.jsonl";
    // Two lines say what is run and what is asked; then one a sample.
    for (int i = 0; i < 10000 && SplitLines(ReadFile(journal).value_or("")).size() < 6; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ::kill(killed.pid(), SIGKILL);
    killed.Wait();
  }
  for (int i = 0; i < 1000 && !testing::ProcessesWith(model_).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  Write("slow.yaml", ReplaceAll(Config(scene), "repeats: 4", "repeats: 5"));
  testing::Program edited(Argv({"run", "--resume", "out/killed"}), Env(), folder_.path().string());
  EXPECT_EQ(edited.Wait(), runner::kExitUsage);
  EXPECT_THAT(edited.Err(), HasSubstr("that the configs no longer describe so"));

  Write("slow.yaml", Config(scene));
  const std::string questions = ReadFile(folder_ / "questions.csv").value();
  Write("questions.csv", ReplaceAll(questions, "What is 7", "What was 7"));
  testing::Program other_data(Argv({"run", "--resume", "out/killed"}), Env(), folder_.path().string());
  EXPECT_EQ(other_data.Wait(), runner::kExitUsage);
  EXPECT_THAT(other_data.Err(), HasSubstr("was begun with dataset_sha256"));
  Write("questions.csv", questions);
  testing::Program other_flags(Argv({"run", "--resume", "out/killed", "--stop", "never"}), Env(),
                               folder_.path().string());
  EXPECT_EQ(other_flags.Wait(), runner::kExitUsage);
  EXPECT_THAT(other_flags.Err(), HasSubstr("leave --stop away"));
  EXPECT_TRUE(testing::ProcessesWith(model_).empty()) << "a refusal launched a server";

  testing::Program resumed(Argv({"run", "--resume", "out/killed"}), Env(), folder_.path().string());
  while (testing::ProcessesWith(model_).empty() && resumed.Running())
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  testing::Program second(Argv({"run", "--resume", "out/killed"}), Env(), folder_.path().string());
  EXPECT_EQ(second.Wait(), runner::kExitUsage);
  EXPECT_THAT(second.Err(), HasSubstr("another assay is writing it"));
  // A busy machine may make the small benchmark invalid.
  EXPECT_THAT(resumed.Wait(), ::testing::AnyOf(0, runner::kExitInvalid)) << resumed.Err();
  const record::RunRecord record = RecordIn("out/killed");
  EXPECT_EQ(record.status, "complete");
  EXPECT_EQ(record.cells.at(0).accuracy->samples.size(), 48u);
  EXPECT_TRUE(record.cells[0].accuracy->complete);
  EXPECT_GE(record.cells[0].accuracy->kept, 4);
  EXPECT_EQ(record.cells[0].serving.size(), 1u);
}

}  // namespace
}  // namespace assay
