// assay bisect over a repository whose commits are servers: a script that answers right, and from one commit
// on wrong.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "runner/cli/exit_code.h"
#include "testing/git_repository.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class BisectTest : public AssayTest {
 protected:
  // One commit: what the build makes a server of.
  void Commit(const std::string& build, const std::string& answer) {
    const std::string script = fmt::format(
        "#!/bin/sh\nexec {}/assay-scripted-server --answer \"{}\" \"$@\"\n", ASSAY_BIN_DIR, answer);
    ASSERT_TRUE(WriteFileAtomic(repository_.path() / "server.in", script));
    ASSERT_TRUE(WriteFileAtomic(repository_.path() / "build.sh", "#!/bin/sh\n" + build + "\n"));
    repository_.Commit(fmt::format("change-{}", commits_++), answer);
  }
  // The config names the program within the checkout.
  std::string ConfigOfServer() {
    return fmt::format(
        "schema: assay/config/1\nname: scripted\nhardware: cpu\n"
        "engine:\n  kind: command\n  model: {}\n"
        "  argv: [server, --model, \"{{model}}\", --port, \"{{port}}\", --token-interval-ms, \"1\"]\n"
        "  stop_timeout_s: 2\n  ready_timeout_s: 20\n"
        "evals: {{gpqa: {{dataset: questions.csv, concurrency: 8, max_tokens: 16, broken_below: 0}}}}\n"
        "gate: {{accuracy: {{margin: 0.45}}}}\n",  // what twelve equal answers exclude
        model_);
  }

  testing::GitRepository repository_;
  int commits_ = 0;
};

constexpr char kBuilds[] = "cp server.in server && chmod +x server";

// With letter C always, six of the twelve are right; without a letter, none is.
TEST_F(BisectTest, FindsTheCommitAndPassesOverOneThatDoesNotBuild) {
  Commit(kBuilds, "Answer: C");  // good
  Commit(kBuilds, "Answer: C");
  Commit("exit 1", "Answer: C");
  Commit(kBuilds, "no idea");  // here
  Commit(kBuilds, "no idea");  // bad
  EXPECT_EQ(Run({"bisect", Write("server.yaml", ConfigOfServer()), "--repository",
                 repository_.path().string(), "--good", "HEAD~4", "--bad", "HEAD", "--build", "sh build.sh",
                 "--binary", "server", "--pairs", "2", "--out", "bisected"}),
            runner::kExitInconclusive)
      << Out() << Err();
  EXPECT_THAT(Out(), HasSubstr("what got worse: gpqa_score"));
  EXPECT_THAT(Out(), HasSubstr("skipped: does not build or start"));
  EXPECT_THAT(Out(), HasSubstr("one of these 2 brought it in"))
      << "the one that does not build is not exonerated";
}

}  // namespace
}  // namespace assay
