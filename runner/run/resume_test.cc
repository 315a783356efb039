// What an attempt may be gone on with.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evals/gpqa/gpqa.h"
#include "runner/cli/parse.h"
#include "runner/run/run_folder.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

using ::testing::HasSubstr;

evals::GpqaOptions Options(const Path& dataset, const std::string& prompt) {
  evals::GpqaOptions options;
  options.dataset = dataset;
  options.prompt = prompt;
  options.model = "m";
  return options;
}

std::string Refusal(const testing::TempDir& folder, const evals::GpqaOptions& options) {
  const auto cells = ReadJournal(folder / "j");
  const auto asked = evals::WhatIsAsked(options);
  EXPECT_TRUE(cells && asked);
  const Status same = CheckSameAsked(cells->at("a"), *asked, "out/1");
  return same ? "" : same.error().message;
}

TEST(Resume, RefusesAnswersToOtherQuestionsOrAskedOtherwise) {
  const testing::TempDir folder;
  const std::string csv =
      "Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,Record ID,"
      "High-level domain,Writer's Difficulty Estimate\nWhich?,right,w1,w2,w3,rec1,Physics,Hard\n";
  ASSERT_TRUE(WriteFileAtomic(folder / "q.csv", csv));
  ASSERT_TRUE(WriteFileAtomic(folder / "p.txt", std::string("{question} {A} {B} {C} {D}")));
  const evals::GpqaOptions options = Options(folder / "q.csv", (folder / "p.txt").string());
  {
    const auto journal = Journal::Open(folder / "j");
    (*journal)->BeginGpqa("a", *evals::WhatIsAsked(options));
    record::QuestionSample sample;
    sample.id = "rec1";
    (*journal)->Add("a", sample);
  }
  EXPECT_EQ(Refusal(folder, options), "");
  evals::GpqaOptions other = options;
  other.model = "n";
  EXPECT_THAT(Refusal(folder, other), HasSubstr("model m, and now it is n"));
  other = options;
  other.api = "responses";
  EXPECT_THAT(Refusal(folder, other), HasSubstr("api chat"));
  other = options;
  other.temperature = 0.5;
  EXPECT_THAT(Refusal(folder, other), HasSubstr("temperature 1, and now it is 0.5"));

  ASSERT_TRUE(WriteFileAtomic(folder / "p.txt", std::string("Now {question} {A} {B} {C} {D}")));
  EXPECT_THAT(Refusal(folder, options), HasSubstr("prompt_sha256"));
  ASSERT_TRUE(WriteFileAtomic(folder / "p.txt", std::string("{question} {A} {B} {C} {D}")));
  ASSERT_TRUE(WriteFileAtomic(folder / "q.csv", csv + "What?,right,w1,w2,w3,rec2,Physics,Hard\n"));
  EXPECT_THAT(Refusal(folder, options), HasSubstr("dataset_sha256"));
}

TEST(Resume, RefusesAJournalThatDoesNotSayWhatWasAsked) {
  JournalCell earlier;
  EXPECT_TRUE(CheckSameAsked(earlier, {{"model", "m"}}, "out/1")) << "nothing was answered";
  earlier.samples.emplace_back();
  EXPECT_FALSE(CheckSameAsked(earlier, {{"model", "m"}}, "out/1"));
}

Status Alone(std::vector<std::string> arguments) {
  CLI::App app;
  std::string what, resume;
  std::vector<std::string> configs;
  double temperature = 0;
  app.add_option("eval", what);
  app.add_option("config", configs);
  app.add_option("--resume", resume);
  app.add_option("--temperature", temperature);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  EXPECT_FALSE(ParseArguments(app, static_cast<int>(argv.size()), argv.data()));
  return CheckResumeIsAlone(app, {"eval"});
}

TEST(Resume, TakesNoOtherFlag) {
  EXPECT_TRUE(Alone({"eval", "gpqa", "--resume", "out/1"}));
  EXPECT_TRUE(Alone({"eval", "gpqa", "--temperature", "0"}));
  const Status flag = Alone({"eval", "gpqa", "--resume", "out/1", "--temperature", "0"});
  ASSERT_FALSE(flag);
  EXPECT_EQ(flag.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(flag.error().message, HasSubstr("leave --temperature away"));
  const Status config = Alone({"eval", "gpqa", "a.yaml", "--resume", "out/1"});
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr("leave a.yaml (config) away"));
}

}  // namespace
}  // namespace assay::runner
