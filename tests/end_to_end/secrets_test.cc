// What a server is given, and what of it anybody gets to see.

#include <gmock/gmock.h>

#include "base/text.h"
#include "runner/cli/exit_code.h"
#include "testing/scripted_server.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SecretsTest : public AssayTest {
 protected:
  // All that runs wrote, and what the last one printed.
  std::string Everything() const {
    std::string text = Out() + Err();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "out")) {
      if (entry.is_regular_file()) text += ReadFile(entry.path()).value_or("");
    }
    return text;
  }
};

TEST_F(SecretsTest, AServerGetsItsKeysAndNoRecordHasThem) {
  // The shell starts the server only when the real key arrived, of 10 characters.
  std::string config = Config({.engine = "env: {MY_API_KEY: sk-in-env1}"});
  config = ReplaceAll(config, "argv: [",
                      "argv: [env, HF_TOKEN=sk-in-argv, \"HTTP_PROXY_OF_TEST=http://u:sk-in-url@h\", sh, -c, "
                      "'test ${#HF_TOKEN} = 10 && test ${#MY_API_KEY} = 10 && shift 3 && exec \"$@\"', sh, "
                      "--hf-token, sk-in-flag, --api-key=sk-in-flag, ");
  const std::string file = Write("config.yaml", config);
  ASSERT_EQ(Run({"run", file, "--no-store"}), 0) << Err() << Out();
  const std::string seen = Everything();
  EXPECT_THAT(seen, Not(HasSubstr("sk-in-")));
  EXPECT_THAT(seen, HasSubstr("HF_TOKEN=(hidden)"));
  EXPECT_THAT(seen, HasSubstr("http://(hidden)@h"));
  EXPECT_THAT(Record().cells.at(0).fingerprint.engine_flags, HasSubstr("--api-key=(hidden)"));
  ASSERT_EQ(Run({"run", file, "--dry-run"}), 0) << Err();
  EXPECT_THAT(Out() + Err(), Not(HasSubstr("sk-in-")));
}

TEST_F(SecretsTest, AnAddressIsRecordedWithoutItsPassword) {
  auto server = testing::ScriptedServer::Start({});
  ASSERT_TRUE(server.has_value()) << server.error().message;
  const std::string host = (*server)->BaseUrl().substr(7), address = "http://me:sk-in-url@" + host;
  const std::vector<std::string> arguments = {"eval",      "gpqa",          "--base-url", address,
                                              "--dataset", "questions.csv", "--out",      "out/eval"};
  ASSERT_EQ(Run(arguments), 0) << Err() << Out();
  const std::string seen = Everything();
  EXPECT_THAT(seen, Not(HasSubstr("sk-in-")));
  EXPECT_THAT(seen, HasSubstr("http://(hidden)@" + host));

  // Such a run goes on when it is told the password again.
  const Path record = folder_ / "out/eval/record.json";
  std::string text = ReadFile(record).value_or("");
  text = ReplaceAll(ReplaceAll(text, R"("status": "complete")", R"("status": "running")"),
                    R"("status":"complete")", R"("status":"running")");
  ASSERT_TRUE(WriteFileAtomic(record, text));
  EXPECT_EQ(Run({"eval", "gpqa", "--resume", "out/eval"}), runner::kExitUsage);
  EXPECT_THAT(Err(), HasSubstr("give that --base-url again"));
  EXPECT_EQ(Run({"eval", "gpqa", "--resume", "out/eval", "--base-url", address}), 0) << Err() << Out();

  server->reset();
  EXPECT_EQ(Run({"eval", "gpqa", "--base-url", address, "--dataset", "questions.csv"}),
            runner::kExitInfrastructure);
  EXPECT_THAT(Err(), Not(HasSubstr("sk-in-")));
}

}  // namespace
}  // namespace assay
