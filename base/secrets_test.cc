#include "base/secrets.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(NamesSecret, KnowsThemByTheEndOfAWord) {
  for (const char* name : {"HF_TOKEN", "--hf-token", "--api-key", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY",
                           "PGPASSWORD", "apikey", "client_secret"})
    EXPECT_TRUE(NamesSecret(name)) << name;
  for (const char* name :
       {"--tokenizer", "--max-num-batched-tokens", "TOKENIZERS_PARALLELISM", "--ssl-keyfile", "--port", ""})
    EXPECT_FALSE(NamesSecret(name)) << name;
}

TEST(HideUserInfo, HidesWhatStandsBeforeTheHost) {
  EXPECT_EQ(HideUserInfo("http://user:pa@ss@host:80/v1"), "http://(hidden)@host:80/v1");
  EXPECT_EQ(HideUserInfo("get https://u@a and http://b/x@y"), "get https://(hidden)@a and http://b/x@y");
  EXPECT_EQ(HideUserInfo("--base-url=http://u:p@h"), "--base-url=http://(hidden)@h");
  EXPECT_EQ(HideUserInfo("http://127.0.0.1:8000"), "http://127.0.0.1:8000");
  EXPECT_EQ(HideUserInfo("me@host"), "me@host");
}

TEST(HideSecrets, HidesTheValuesOfFlagsAndNothingElse) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(
      HideSecrets({"serve", "--api-key", "a", "-b", "--port", "1", "--hf-token=c", "--max-tokens", "8"}),
      (Words{"serve", "--api-key", "(hidden)", "(hidden)", "--port", "1", "--hf-token=(hidden)",
             "--max-tokens", "8"}));
  EXPECT_EQ(HideSecrets({"env", "HF_TOKEN=x", "A=b", "http://u:p@h"}),
            (Words{"env", "HF_TOKEN=(hidden)", "A=b", "http://(hidden)@h"}));
}

TEST(HideSecrets, LooksIntoCommandLinesWithinAnArgument) {
  const auto shown = [](const std::string& script) { return HideSecrets({"sh", "-c", script}).back(); };
  EXPECT_EQ(shown("exec serve --api-key sk-1 --port 8"), "exec serve --api-key (hidden) --port 8");
  EXPECT_EQ(shown("exec serve --api-key=sk-1 --max-tokens 8"),
            "exec serve --api-key=(hidden) --max-tokens 8");
  EXPECT_EQ(shown("export A=b; export HF_TOKEN='a b'; serve"), "export A=b; export HF_TOKEN=(hidden); serve");
  EXPECT_EQ(shown("serve --hf-token \"a b\" --x \"c d\""), "serve --hf-token (hidden) --x \"c d\"");
  EXPECT_EQ(shown("bash -c 'serve --api-key k && echo'"), "bash -c 'serve --api-key (hidden) && echo'");
  EXPECT_EQ(shown("curl -H \"Authorization: Bearer sk-1\" http://u:p@h/"),
            "curl -H \"Authorization: Bearer (hidden)\" http://(hidden)@h/");
  EXPECT_EQ(shown("serve --api-key; echo done"), "serve --api-key; echo done");
  EXPECT_EQ(shown("echo it's up; serve --api-key k --port 8"),
            "echo it's up; serve --api-key (hidden) --port 8");
  EXPECT_EQ(shown("it's 5 o'clock \\"), "it's 5 o'clock \\");
  EXPECT_EQ(HideSecrets({"-H", "Authorization: Bearer sk-1"}).back(), "Authorization: Bearer (hidden)");
}

}  // namespace
}  // namespace assay
