#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/hash.h"
#include "evals/gpqa/asking.h"
#include "testing/scripted_server.h"
#include "testing/temp_dir.h"
#include "testing/zip_file.h"

namespace assay::evals {
namespace {

using assay::testing::ScriptedAnswer;
using assay::testing::ScriptedOptions;
using assay::testing::ScriptedServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The first permutations of Random(0) are 3102, 3120, 2301, 2031: the right letters are C, D, C, B.
class RunGpqaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    StartServer({});
    std::string csv =
        "Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,Record ID,"
        "High-level domain,Writer's Difficulty Estimate\n";
    for (const char* number : {"1", "2", "3", "4"}) {
      csv += std::string("Question ") + number + "?,right,w1,w2,w3,rec" + number + ",Physics,Hard\n";
    }
    ASSERT_TRUE(WriteFileAtomic(folder_ / "questions.csv", csv).has_value());
    options_.dataset = folder_ / "questions.csv";
    options_.model = "scripted";
    options_.concurrency = 1;  // so that queued answers meet the questions in order
  }

  void StartServer(const ScriptedOptions& options) {
    server_.reset();
    auto server = ScriptedServer::Start(options);
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
  }

  static std::string Event(const nlohmann::json& payload) { return "data: " + payload.dump() + "\n\n"; }

  static ScriptedAnswer Says(const std::string& content, const std::string& reasoning = "",
                             const std::string& finish_reason = "stop") {
    const nlohmann::json delta = {{"content", content}, {"reasoning", reasoning}};
    const nlohmann::json choice = {{"index", 0}, {"delta", delta}, {"finish_reason", finish_reason}};
    const nlohmann::json usage = {{"prompt_tokens", 90}, {"completion_tokens", 12}};
    return {.chunks = {{0, Event({{"choices", {choice}}})},
                       {0, Event({{"choices", nlohmann::json::array()}, {"usage", usage}})},
                       {0, "data: [DONE]\n\n"}}};
  }

  record::AccuracyRecord Run() {
    hooks_.on_sample = [this](const record::QuestionSample& sample) { seen_.push_back(sample.id); };
    auto accuracy = RunGpqa(server_->BaseUrl(), options_, progress_, hooks_);
    EXPECT_TRUE(accuracy.has_value()) << accuracy.error().message;
    return accuracy.value_or(record::AccuracyRecord{});
  }

  assay::testing::TempDir folder_;
  std::unique_ptr<ScriptedServer> server_;
  GpqaOptions options_;
  GpqaHooks hooks_;
  Progress progress_;
  std::vector<std::string> seen_;
};

TEST_F(RunGpqaTest, GradesEverySampleByBothGraders) {
  server_->Queue(Says("Answer: C"));
  server_->Queue(Says("**Answer:** A"));
  server_->Queue(Says("Answer: A\nNo, I was wrong.\nAnswer: C"));
  server_->Queue(Says("Both options remain possible."));
  const record::AccuracyRecord accuracy = Run();

  EXPECT_TRUE(accuracy.complete);
  EXPECT_EQ(accuracy.dataset, "questions.csv");
  EXPECT_EQ(accuracy.dataset_hash, *Sha256File(options_.dataset));
  EXPECT_EQ(accuracy.questions, 4);
  EXPECT_EQ(accuracy.prompt_template, "gpt-oss");
  ASSERT_EQ(accuracy.samples.size(), 4u);
  std::string expected, strict, compat, correct;
  for (const record::QuestionSample& sample : accuracy.samples) {
    expected += sample.expected;
    strict += sample.strict.empty() ? "-" : sample.strict;
    compat += sample.compat;
    correct += sample.correct ? "1" : "0";
  }
  EXPECT_EQ(expected, "CDCB");
  EXPECT_EQ(strict, "CAC-");
  EXPECT_EQ(compat, "CAAB");
  EXPECT_EQ(correct, "1010") << "strict decides";
  const record::QuestionSample& first = accuracy.samples[0];
  EXPECT_EQ(first.id, "rec1");
  EXPECT_EQ(first.permutation, "3102");
  EXPECT_EQ(first.domain, "Physics");
  EXPECT_EQ(first.band, "Hard");
  EXPECT_EQ(first.finish_reason, "stop");
  EXPECT_EQ(first.prompt_tokens, 90);
  EXPECT_EQ(first.output_tokens, 12);
  EXPECT_GT(first.latency_ms, 0);
  EXPECT_EQ(progress_.done, 4);
  EXPECT_EQ(progress_.planned, 4);
  EXPECT_EQ(progress_.in_flight, 0);
}

TEST_F(RunGpqaTest, CompatDecidesWhenAskedTo) {
  options_.grader = "compat";
  options_.subset = 4;
  for (int i = 0; i < 4; ++i) server_->Queue(Says("Both options remain possible."));
  const record::AccuracyRecord accuracy = Run();
  for (const record::QuestionSample& sample : accuracy.samples) {
    EXPECT_EQ(sample.strict, "");
    EXPECT_EQ(sample.correct, sample.expected == "B");
  }
}

TEST_F(RunGpqaTest, NeverGradesReasoning) {
  options_.subset = 1;
  server_->Queue(Says("", "The answer is B.", "length"));
  const record::AccuracyRecord accuracy = Run();
  ASSERT_EQ(accuracy.samples.size(), 1u);
  EXPECT_EQ(accuracy.samples[0].strict, "");
  EXPECT_EQ(accuracy.samples[0].compat, "");
  EXPECT_EQ(accuracy.samples[0].finish_reason, "length");
  EXPECT_EQ(accuracy.samples[0].error, "");
}

TEST_F(RunGpqaTest, SendsThePromptAndTheSamplingOfTheOptions) {
  options_.reasoning_effort = "high";
  options_.temperature = 0.5;
  options_.max_tokens = 77;
  options_.sampling_seed = 1000;
  Run();
  const std::vector<std::string> bodies = server_->RequestBodies();
  ASSERT_EQ(bodies.size(), 4u);
  const auto body = nlohmann::json::parse(bodies[1]);
  EXPECT_EQ(body["model"], "scripted");
  EXPECT_EQ(body["reasoning_effort"], "high");
  EXPECT_EQ(body["temperature"], 0.5);
  EXPECT_EQ(body["max_tokens"], 77);
  EXPECT_EQ(body["seed"], 1001);
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["messages"].size(), 1u);
  EXPECT_EQ(body["messages"][0]["role"], "user");
  EXPECT_EQ(body["messages"][0]["content"],
            "Question 2?\n\n(A) w3\n(B) w1\n(C) w2\n(D) right\n\n"
            "Express your final answer as the corresponding option 'A', 'B', 'C', or 'D'.");
}

TEST_F(RunGpqaTest, RetriesWhatTheServerMayMend) {
  options_.subset = 1;
  server_->Queue({.status = 503, .content_type = "text/plain", .body = "busy"});
  server_->Queue({.chunks = {{0, Event({{"choices", {{{"delta", {{"content", "Ans"}}}}}}})}}, .cut = true});
  server_->Queue(Says("Answer: A"));
  const record::AccuracyRecord accuracy = Run();
  ASSERT_EQ(accuracy.samples.size(), 1u);
  EXPECT_EQ(accuracy.samples[0].error, "");
  EXPECT_EQ(accuracy.samples[0].strict, "A");
  EXPECT_EQ(server_->RequestBodies().size(), 3u);
}

TEST_F(RunGpqaTest, AClientErrorFailsTheSampleAtOnce) {
  options_.subset = 1;
  server_->Queue(
      {.status = 400, .content_type = "application/json", .body = R"({"error":{"message":"no"}})"});
  const record::AccuracyRecord accuracy = Run();
  ASSERT_EQ(accuracy.samples.size(), 1u);
  EXPECT_EQ(accuracy.samples[0].error, "HTTP 400: no");
  EXPECT_EQ(accuracy.samples[0].finish_reason, "");
  EXPECT_FALSE(accuracy.samples[0].correct);
  EXPECT_TRUE(accuracy.complete) << "asked and failed is asked";
  EXPECT_EQ(server_->RequestBodies().size(), 1u);
}

TEST_F(RunGpqaTest, ADeadServerFailsEverySampleAfterItsRetries) {
  const std::string url = server_->BaseUrl();
  server_.reset();
  options_.retries = 1;
  options_.concurrency = 4;
  const auto accuracy = RunGpqa(url, options_, progress_);
  ASSERT_TRUE(accuracy.has_value());
  ASSERT_EQ(accuracy->samples.size(), 4u);
  for (const record::QuestionSample& sample : accuracy->samples) {
    EXPECT_THAT(sample.error, HasSubstr("Connection refused"));
  }
}

TEST_F(RunGpqaTest, RecordsInPlannedOrderWhateverFinishesFirst) {
  options_.concurrency = 4;
  ScriptedAnswer late = Says("Answer: A");
  late.chunks[0].after_ms = 120;
  server_->Queue(late);
  const record::AccuracyRecord accuracy = Run();
  ASSERT_EQ(accuracy.samples.size(), 4u);
  EXPECT_EQ(accuracy.samples[0].id, "rec1");
  EXPECT_EQ(accuracy.samples[3].id, "rec4");
  EXPECT_EQ(seen_.size(), 4u);
  EXPECT_THAT(seen_, ::testing::UnorderedElementsAre("rec1", "rec2", "rec3", "rec4"));
}

TEST_F(RunGpqaTest, StopKeepsWhatWasMeasured) {
  server_->Queue(Says("Answer: A"));
  server_->Queue({.chunks = {{0, "data: "}}, .never_end = true});
  std::thread watcher([this] {
    while (progress_.done < 1) std::this_thread::yield();
    progress_.stop = true;
  });
  const record::AccuracyRecord accuracy = Run();
  watcher.join();
  EXPECT_FALSE(accuracy.complete);
  ASSERT_EQ(accuracy.samples.size(), 1u);
  EXPECT_EQ(accuracy.samples[0].id, "rec1");
  EXPECT_EQ(progress_.in_flight, 0);
}

TEST_F(RunGpqaTest, NamesTheDataSetThatIsTooSmall) {
  options_.subset = 5;
  const auto accuracy = RunGpqa(server_->BaseUrl(), options_, progress_);
  ASSERT_FALSE(accuracy.has_value());
  EXPECT_EQ(accuracy.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(accuracy.error().message,
              HasSubstr("questions.csv: asked for 5 questions, the data set has 4: ask for 1 to 4"));
}

TEST_F(RunGpqaTest, ContentNullIsUnparsedAndNotAskedAgain) {
  options_.subset = 1;
  const nlohmann::json delta = {{"content", nullptr}, {"reasoning", "Answer: A, A, A ..."}};
  server_->Queue({.chunks = {{0, Event({{"choices", {{{"delta", delta}, {"finish_reason", "length"}}}}})},
                             {0, "data: [DONE]\n\n"}}});
  const record::AccuracyRecord accuracy = Run();
  const record::AccuracyCounts counts = record::Count(accuracy);
  EXPECT_EQ(counts.unparsed, 1);
  EXPECT_EQ(counts.truncated, 1);
  EXPECT_EQ(counts.failed, 0);
  EXPECT_EQ(server_->RequestBodies().size(), 1u);
}

TEST_F(RunGpqaTest, AsksOverTheResponsesApi) {
  options_.subset = 1;
  options_.api = "responses";
  options_.reasoning_effort = "high";
  options_.max_tokens = 77;
  const nlohmann::json response = {
      {"model", "scripted"},
      {"output",
       {{{"type", "reasoning"}, {"content", {{{"type", "reasoning_text"}, {"text", "The answer is A."}}}}},
        {{"type", "message"}, {"content", {{{"type", "output_text"}, {"text", "Answer: C"}}}}}}},
      {"usage", {{"input_tokens", 90}, {"output_tokens", 12}}}};
  server_->Queue(
      {.chunks = {{0, "event: response.created\n" + Event({{"type", "response.created"}})},
                  {0, Event({{"type", "response.reasoning_text.delta"}, {"delta", "The answer is A."}})},
                  {0, Event({{"type", "response.output_text.delta"}, {"delta", "Answer"}})},
                  {0, Event({{"type", "response.output_text.delta"}, {"delta", ": C"}})},
                  {0, Event({{"type", "response.completed"}, {"response", response}})}}});
  const record::AccuracyRecord accuracy = Run();
  ASSERT_EQ(accuracy.samples.size(), 1u);
  const record::QuestionSample& sample = accuracy.samples[0];
  EXPECT_EQ(sample.error, "");
  EXPECT_EQ(sample.strict, "C") << "from the output_text parts";
  EXPECT_EQ(sample.finish_reason, "stop");
  EXPECT_EQ(sample.output_tokens, 12);
  EXPECT_EQ(accuracy.api, "responses");
  const auto body = nlohmann::json::parse(server_->RequestBodies().at(0));
  EXPECT_EQ(body["input"][0]["role"], "user");
  EXPECT_EQ(body["max_output_tokens"], 77);
  EXPECT_EQ(body["reasoning"]["effort"], "high");
}

TEST_F(RunGpqaTest, AServerThatOnlyGivesTheWholeResponseIsRead) {
  options_.subset = 1;
  options_.api = "responses";
  const nlohmann::json response = {
      {"incomplete_details", {{"reason", "max_output_tokens"}}},
      {"output", {{{"type", "message"}, {"content", {{{"type", "output_text"}, {"text", "Answer: D"}}}}}}}};
  server_->Queue({.chunks = {{0, Event({{"type", "response.incomplete"}, {"response", response}})}}});
  const record::AccuracyRecord accuracy = Run();
  EXPECT_EQ(accuracy.samples.at(0).strict, "D");
  EXPECT_EQ(accuracy.samples.at(0).finish_reason, "length");
}

TEST_F(RunGpqaTest, AFailedResponseIsAFailedSampleWithItsText) {
  options_.subset = 1;
  options_.api = "responses";
  options_.retries = 0;
  server_->Queue({.chunks = {{0, Event({{"type", "response.failed"},
                                        {"response", {{"error", {{"message", "out of memory"}}}}}})}}});
  EXPECT_THAT(Run().samples.at(0).error, HasSubstr("out of memory"));
}

TEST_F(RunGpqaTest, SendsNoEffortWhereNoneIsWanted) {
  options_.subset = 1;
  options_.reasoning_effort = "default";
  options_.prompt = "simple-evals";
  EXPECT_EQ(Run().prompt_template, "simple-evals");
  const auto body = nlohmann::json::parse(server_->RequestBodies().at(0));
  EXPECT_FALSE(body.contains("reasoning_effort"));
  EXPECT_THAT(body["messages"][0]["content"].get<std::string>(), HasSubstr("Think step by step"));
}

// A server that repeats the question in its error, as validators do.
TEST_F(RunGpqaTest, KeepsNoTextOfAQuestionUnlessAsked) {
  options_.subset = 1;
  std::string body =
      R"({"error":{"message":"bad: 'Express your final answer as the', max_tokens is too large"}})";
  server_->Queue({.status = 400, .content_type = "application/json", .body = body});
  const std::string kept = Run().samples.at(0).error;
  EXPECT_THAT(kept, ::testing::Not(HasSubstr("Express your")));
  EXPECT_THAT(kept, HasSubstr("(question left out)"));
  EXPECT_THAT(kept, HasSubstr("max_tokens is too large"));
  EXPECT_EQ(WithoutQuestion("HTTP 400: you said: A long question about spin. Sorry.",
                            "A long question about spin."),
            "HTTP 400: you said: (question left out). Sorry.");

  options_.include_text = true;
  server_->Queue(Says("Answer: A"));
  const record::AccuracyRecord with_text = Run();
  EXPECT_TRUE(with_text.has_text);
  EXPECT_THAT(with_text.samples.at(0).prompt, HasSubstr("Express your final answer"));
  EXPECT_EQ(with_text.samples.at(0).answer, "Answer: A");
}

// 60 samples of which 2 % may fail: the tenth failure ends it, and what is known so far is kept.
TEST_F(RunGpqaTest, EndsWhenTooManyFailedForAnyScore) {
  options_.repeats = 15;
  options_.retries = 0;
  options_.concurrency = 1;
  for (int i = 0; i < 12; ++i)
    server_->Queue({.status = 400, .content_type = "application/json", .body = R"({"error":"no"})"});
  GpqaHooks hooks;
  hooks.max_failed_share = 0.02;
  const auto accuracy = RunGpqa(server_->BaseUrl(), options_, progress_, hooks);
  ASSERT_TRUE(accuracy.has_value()) << accuracy.error().message;
  EXPECT_FALSE(accuracy->complete);
  EXPECT_EQ(accuracy->samples.size(), 10u);
  EXPECT_EQ(server_->RequestBodies().size(), 10u);
}

TEST_F(RunGpqaTest, TakesAnAnswerThatNamesAnotherModelOnlyWhenAskedTo) {
  StartServer({.answer_model = "scripted-2026-01-01"});
  options_.subset = 1;
  EXPECT_THAT(Run().samples.at(0).error, HasSubstr("answered by the model scripted-2026-01-01"));
  options_.any_model = true;
  const record::AccuracyRecord accuracy = Run();
  EXPECT_EQ(accuracy.samples.at(0).error, "");
  EXPECT_EQ(accuracy.samples[0].strict, "A");
}

TEST_F(RunGpqaTest, AsksNothingTwiceThatIsKept) {
  const record::AccuracyRecord whole = Run();
  hooks_.kept = {whole.samples[2], whole.samples[0]};
  seen_.clear();
  const record::AccuracyRecord resumed = Run();
  EXPECT_THAT(seen_, ElementsAre("rec2", "rec4"));
  EXPECT_EQ(resumed.kept, 2);
  EXPECT_TRUE(resumed.complete);
  ASSERT_EQ(resumed.samples.size(), 4u);
  EXPECT_EQ(resumed.samples[0].latency_ms, whole.samples[0].latency_ms);
  EXPECT_EQ(progress_.done, 4);
}

TEST_F(RunGpqaTest, KeepsNothingOfAnotherPlan) {
  const record::AccuracyRecord whole = Run();
  hooks_.kept = {whole.samples[2]};
  options_.seed = 5;
  const auto accuracy = RunGpqa(server_->BaseUrl(), options_, progress_, hooks_);
  ASSERT_FALSE(accuracy);
  EXPECT_THAT(accuracy.error().message, HasSubstr("rec3 (repeat 0) otherwise"));
}

// Asked in the order of random.Random(0).sample(range(8), 8) = 6 7 3 0 2 5 1 4; looked after 2 and 4.
TEST_F(RunGpqaTest, EndsAtALookOverABeginningOfARandomOrder) {
  options_.repeats = 2;
  options_.stop = "when-certain";
  options_.concurrency = 3;
  std::vector<std::vector<std::string>> looked;
  hooks_.looks = [](int64_t planned) { return std::vector<int64_t>{planned / 4, planned / 2}; };
  hooks_.decided = [&](const record::AccuracyRecord& part) {
    looked.emplace_back();
    for (const record::QuestionSample& sample : part.samples)
      looked.back().push_back(sample.id + "." + std::to_string(sample.repeat));
    return looked.size() == 2;
  };
  ScriptedAnswer late = Says("Answer: A");
  late.chunks[0].after_ms = 100;  // the first asked comes after others
  server_->Queue(late);
  const record::AccuracyRecord accuracy = Run();
  EXPECT_THAT(RandomOrder(8, 0), ElementsAre(6, 7, 3, 0, 2, 5, 1, 4));
  EXPECT_THAT(looked, ElementsAre(ElementsAre("rec3.1", "rec4.1"),
                                  ElementsAre("rec1.0", "rec4.0", "rec3.1", "rec4.1")));
  EXPECT_FALSE(accuracy.complete);
  ASSERT_TRUE(accuracy.sequential);
  EXPECT_TRUE(accuracy.sequential->stopped);
  EXPECT_THAT(accuracy.sequential->looks, ElementsAre(2, 4));
  EXPECT_GE(accuracy.sequential->sent, 4);
  EXPECT_LE(accuracy.sequential->sent, 8);
  EXPECT_EQ(accuracy.samples.size(), 4u) << "no sample that was only quick";
  EXPECT_EQ(progress_.in_flight, 0);
}

TEST_F(RunGpqaTest, AsksAllWhereNothingIsDecided) {
  options_.stop = "when-certain";
  hooks_.looks = [](int64_t) { return std::vector<int64_t>{1, 2}; };
  hooks_.decided = [](const record::AccuracyRecord&) { return false; };
  const record::AccuracyRecord accuracy = Run();
  EXPECT_TRUE(accuracy.complete);
  EXPECT_FALSE(accuracy.sequential->stopped);
  EXPECT_EQ(accuracy.samples.size(), 4u);
}

TEST_F(RunGpqaTest, HoldsAThousandRequestsInFlight) {
  ASSERT_TRUE(WriteFileAtomic(options_.dataset, assay::testing::MadeUpQuestions(1000)));
  options_.concurrency = 1000;
  for (int i = 0; i < 1000; ++i) server_->Queue({.chunks = {{0, ": wait\n\n"}}, .never_end = true});
  std::thread watcher([&] {
    while (progress_.in_flight < 1000 || server_->RequestBodies().size() < 1000)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    progress_.stop = true;
  });
  EXPECT_TRUE(Run().samples.empty()) << "all were held open together";
  watcher.join();

  progress_.stop = false;
  StartServer({.token_interval_ms = 0});
  const record::AccuracyRecord accuracy = Run();
  EXPECT_EQ(record::Count(accuracy).failed, 0);
  EXPECT_EQ(accuracy.samples.size(), 1000u);
  EXPECT_EQ(server_->RequestBodies().size(), 1000u) << "none was sent again";
}

}  // namespace
}  // namespace assay::evals
