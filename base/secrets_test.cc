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

}  // namespace
}  // namespace assay
