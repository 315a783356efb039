#include "engine/serve.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/text.h"
#include "engine/server/service_test_support.h"

// What keeps the engine from starting; each is found before weights are read.
namespace assay::engine {
namespace {

const Path kTinyMoe = Path(ASSAY_SOURCE_DIR) / "models/tiny-moe";

Error WhyNot(ServeFlags flags) {
  flags.port = 0;
  const Status served = Serve(flags);
  if (served) return {ErrorKind::kInterrupted, "it served"};
  return served.error();
}

ServeFlags TinyMoe() {
  ServeFlags flags;
  flags.model = kTinyMoe.string();
  return flags;
}

void Replace(const Path& file, std::string_view from, std::string_view to) {
  const std::string text = ReadFile(file).value();
  std::ofstream(file) << ReplaceAll(text, from, to);
}

TEST(Serve, RefusesATokenizerWithIdsBeyondTheEmbedding) {
  const testing::TempDir model;
  std::filesystem::copy(kTinyMoe / "config.json", model / "config.json");
  Replace(model / "config.json", "\"vocab_size\": 1024", "\"vocab_size\": 200");
  WriteByteTokenizer(model.path());
  std::ofstream(model / "tokenizer_config.json") << R"({"tokenizer_class": "TokenizersBackend"})";
  ServeFlags flags;
  flags.model = model.path().string();
  const Error error = WhyNot(flags);
  EXPECT_EQ(ExitCodeOf(error), kExitUsage);
  EXPECT_TRUE(StartsWith(error.message, "unusable tokenizer: " + (model / "tokenizer.json").string()))
      << error.message;
  for (const char* part : {"TokenizersBackend", "ids up to 263", "200 rows", "--tokenizer"}) {
    EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
  }
}

TEST(Serve, RefusesATokenizerWithoutHarmonyTokens) {
  const testing::TempDir folder;
  WriteByteTokenizer(folder.path());
  Replace(folder / "tokenizer.json", "<|channel|>", "<|canal|>");
  ServeFlags flags = TinyMoe();
  flags.tokenizer = folder.path().string();
  const Error error = WhyNot(flags);
  EXPECT_EQ(ExitCodeOf(error), kExitUsage);
  EXPECT_TRUE(StartsWith(error.message, "unusable tokenizer: " + (folder / "tokenizer.json").string()))
      << error.message;
  EXPECT_NE(error.message.find("<|channel|>"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("--tokenizer"), std::string::npos) << error.message;
}

TEST(Serve, RefusesAFolderWithoutATokenizer) {
  const testing::TempDir folder;
  ServeFlags flags = TinyMoe();
  flags.tokenizer = folder.path().string();
  const Error error = WhyNot(flags);
  EXPECT_EQ(ExitCodeOf(error), kExitUsage);
  EXPECT_TRUE(StartsWith(error.message, "unusable tokenizer: ")) << error.message;
}

TEST(Serve, RefusesAFolderWithoutAModel) {
  ServeFlags flags;
  flags.model = "/nonexistent";
  const Error error = WhyNot(flags);
  EXPECT_EQ(ExitCodeOf(error), kExitUsage);
  EXPECT_NE(error.message.find("/nonexistent"), std::string::npos) << error.message;
}

TEST(Serve, RefusesAShapeThatTheModelCannotTake) {
  ServeFlags flags = TinyMoe();
  flags.tensor_parallel_size = 3;
  const Error error = WhyNot(flags);
  EXPECT_EQ(ExitCodeOf(error), kExitUsage);
  EXPECT_TRUE(StartsWith(error.message, "bad flag: tensor_parallel_size 3 does not divide")) << error.message;
}

TEST(Serve, RefusesACacheThatTheMachineCannotHold) {
  ServeFlags flags = TinyMoe();
  flags.kv_cache_blocks = 1 << 30;
  const Error error = WhyNot(flags);
  EXPECT_EQ(ExitCodeOf(error), kExitSystem);
  EXPECT_TRUE(StartsWith(error.message, "out of memory: needs ")) << error.message;
  EXPECT_NE(error.message.find("--kv-cache-memory-mb"), std::string::npos) << error.message;
}

TEST(Serve, APortThatIsTakenIsTheSystemsTrouble) {
  const TestServer other;
  ServeFlags flags = TinyMoe();
  flags.port = other.Port();
  const Status served = Serve(flags);
  ASSERT_FALSE(served);
  EXPECT_EQ(ExitCodeOf(served.error()), kExitSystem);
  EXPECT_TRUE(StartsWith(served.error().message, "port taken: 127.0.0.1:" + std::to_string(other.Port())))
      << served.error().message;
}

}  // namespace
}  // namespace assay::engine
