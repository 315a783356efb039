#include "evals/gpqa/acquire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "testing/scripted_server.h"
#include "testing/temp_dir.h"
#include "testing/zip_file.h"

namespace assay::evals {
namespace {

using assay::testing::MadeUpQuestions;
using assay::testing::ScriptedServer;
using assay::testing::ZipOf;
using ::testing::HasSubstr;

class AcquireTest : public ::testing::Test {
 protected:
  AcquireTest() { options_.folder = folder_ / "data/gpqa"; }

  std::string Write(const std::string& name, const std::string& content) {
    EXPECT_TRUE(WriteFileAtomic(folder_ / name, content));
    return (folder_ / name).string();
  }
  static std::string Published() {
    return ZipOf({{"dataset/gpqa_diamond.csv", MadeUpQuestions(198)},
                  {"dataset/gpqa_main.csv", MadeUpQuestions(448)},
                  {"dataset/gpqa_extended.csv", MadeUpQuestions(546)}},
                 "deserted-untie-orchid");
  }
  std::string ErrorOf(const std::string& from) {
    options_.from = from;
    const auto sets = AcquireGpqa(options_);
    EXPECT_FALSE(std::filesystem::exists(options_.folder)) << "nothing is stored unless all is right";
    kind_ = sets ? ErrorKind::kInterrupted : sets.error().kind;
    return sets ? "no error" : sets.error().message;
  }
  // An address that gives one answer and is gone.
  std::string Serve(assay::testing::ScriptedAnswer answer) {
    assay::testing::ScriptedOptions options;
    options.get_answer = std::move(answer);
    auto server = ScriptedServer::Start(options);
    EXPECT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    return server_->BaseUrl();
  }

  assay::testing::TempDir folder_;
  AcquireOptions options_;
  ErrorKind kind_{};
  std::unique_ptr<ScriptedServer> server_;
};

TEST_F(AcquireTest, StoresEverySetOfTheZip) {
  options_.from = Write("dataset.zip", Published());
  const auto sets = AcquireGpqa(options_);
  ASSERT_TRUE(sets) << sets.error().message;
  ASSERT_EQ(sets->size(), 3u);
  EXPECT_EQ((*sets)[0].variant, "diamond");
  EXPECT_EQ((*sets)[0].questions, 198);
  EXPECT_EQ((*sets)[0].sha256, Sha256(MadeUpQuestions(198)));
  EXPECT_EQ(ReadFile(options_.folder / "gpqa_extended.csv").value_or(""), MadeUpQuestions(546));
}

TEST_F(AcquireTest, TakesACsvByItsNameOrByWhatIsSaid) {
  options_.from = Write("gpqa_diamond.csv", MadeUpQuestions(198));
  EXPECT_TRUE(AcquireGpqa(options_));
  options_.from = Write("mine.csv", MadeUpQuestions(448));
  options_.variant = "main";
  const auto sets = AcquireGpqa(options_);
  ASSERT_TRUE(sets) << sets.error().message;
  EXPECT_EQ((*sets)[0].file, options_.folder / "gpqa_main.csv");
}

TEST_F(AcquireTest, DownloadsWhatAnAddressHolds) {
  const std::string zip = Published();
  options_.from = Serve({.content_type = "application/zip", .body = zip}) + "/x/dataset.zip?raw=true";
  options_.variant = "diamond";
  options_.sha256 = Sha256(zip);
  const auto sets = AcquireGpqa(options_);
  ASSERT_TRUE(sets) << sets.error().message;
  ASSERT_EQ(sets->size(), 1u);
  EXPECT_EQ((*sets)[0].questions, 198);
  EXPECT_FALSE(std::filesystem::exists(options_.folder / "gpqa_main.csv"));
}

TEST_F(AcquireTest, RefusesWhatIsNoDataSet) {
  EXPECT_THAT(ErrorOf(Write("mine.csv", MadeUpQuestions(198))), HasSubstr("which set is it?"));
  EXPECT_THAT(ErrorOf(Write("gpqa_diamond.csv", MadeUpQuestions(150))),
              HasSubstr("has 150 questions, GPQA diamond has 198"));
  EXPECT_THAT(ErrorOf(Write("gpqa_main.csv", "")), HasSubstr("empty file"));
  EXPECT_THAT(ErrorOf(Write("cut.zip", Published().substr(0, 5000))), HasSubstr("no whole zip archive"));
  EXPECT_THAT(ErrorOf((folder_ / "none.zip").string()), HasSubstr("cannot be read"));
  EXPECT_THAT(ErrorOf(Write("page.zip", "\n <!DOCTYPE html><html>")), HasSubstr("is a web page"));
  EXPECT_THAT(ErrorOf(folder_.path().string()), HasSubstr("gpqa_"));
}

TEST_F(AcquireTest, SaysWhatTheServerSaid) {
  EXPECT_THAT(
      ErrorOf(Serve({.status = 404, .content_type = "text/html", .body = "<html>no</html>"}) + "/d.zip"),
      HasSubstr("HTTP 404"));
  EXPECT_EQ(kind_, ErrorKind::kUsage);
  EXPECT_THAT(ErrorOf(Serve({.status = 503, .content_type = "text/plain", .body = "busy"}) + "/d.zip"),
              HasSubstr("HTTP 503"));
  EXPECT_EQ(kind_, ErrorKind::kInfrastructure);
  EXPECT_THAT(ErrorOf(Serve({.content_type = "text/html", .body = "<html>Sign in</html>"}) + "/d.zip"),
              HasSubstr("is a web page"));
  const std::string gone = server_->BaseUrl();
  server_.reset();
  EXPECT_THAT(ErrorOf(gone + "/dataset.zip"), HasSubstr("refused"));
  EXPECT_EQ(kind_, ErrorKind::kInfrastructure);
}

}  // namespace
}  // namespace assay::evals
