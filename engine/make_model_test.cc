#include "engine/make_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/model/model.h"
#include "engine/server/service_test_support.h"
#include "testing/temp_dir.h"

namespace assay::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::atomic<bool> kRunning = false, kStopped = true;

// A model that takes no time.
MakeModelFlags Small(const Path& out) {
  MakeModelFlags flags;
  flags.out = out.string();
  return flags;
}

std::string ErrorOf(const std::vector<std::string>& arguments) {
  const auto flags = ParseMakeModelFlags(arguments);
  return flags ? "" : flags.error().message;
}

TEST(MakeModelFlags, AShapeCanBeChangedInAnySize) {
  const auto flags = ParseMakeModelFlags({"--shape", "gpt-oss-20b", "--layers=4", "out/x", "--vocab", "8192",
                                          "--seed", "7", "--layout", "quark-fp8", "--shards", "3"});
  ASSERT_TRUE(flags) << flags.error().message;
  EXPECT_EQ(flags->out, "out/x");
  EXPECT_EQ(flags->checkpoint.shape.num_hidden_layers, 4);
  EXPECT_EQ(flags->checkpoint.shape.vocab_size, 8192);
  EXPECT_EQ(flags->checkpoint.shape.hidden_size, 2880);
  EXPECT_EQ(flags->checkpoint.shape.num_local_experts, 32);
  EXPECT_EQ(flags->checkpoint.layout, WeightLayout::kQuarkFp8);
  EXPECT_EQ(flags->checkpoint.seed, 7u);
  EXPECT_EQ(flags->checkpoint.shards, 3);
}

TEST(MakeModelFlags, NamesEveryMistake) {
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } cases[] = {
      {{}, "bad flag: the folder to make is missing"},
      {{"a", "b"}, "bad flag: b: unknown; assay-engine make-model --help lists the flags"},
      {{"--shap", "tiny", "a"}, "bad flag: --shap: unknown; did you mean --shape?"},
      {{"--shape", "huge", "a"}, "bad flag: --shape huge: must be one of tiny, gpt-oss-20b, gpt-oss-120b"},
      {{"--layout", "gguf", "a"}, "bad flag: --layout gguf: must be one of mxfp4, bf16, quark, quark-fp8"},
      {{"--hidden", "100", "a"},
       "bad flag: the model to make: field hidden_size must be a multiple of 32 (an MXFP4 block), found 100"},
      {{"--heads", "3", "a"}, "num_attention_heads must be a multiple of 2"},
      {{"--layers", "-1", "a"}, "bad flag: --layers -1: must be 0 to"},
      {{"--threads", "-1", "a"}, "bad flag: --threads -1"},
      {{"--seed", "x", "a"}, "bad flag: "},
  };
  for (const auto& c : cases) EXPECT_THAT(ErrorOf(c.arguments), HasSubstr(c.message));
}

TEST(MakeModelFlags, HelpStatesTheSizesAsTheyAre) {
  for (const auto& [name, size] : {std::pair("tiny", 0), std::pair("gpt-oss-20b", 1)}) {
    const auto flags = ParseMakeModelFlags({"--shape", name, "out"});
    ASSERT_TRUE(flags);
    const auto bytes = static_cast<double>(RandomCheckpointBytes(flags->checkpoint));
    const std::string text =
        size == 0 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
    EXPECT_THAT(kMakeModelHelp, HasSubstr(text)) << name;
  }
  const auto large = ParseMakeModelFlags({"--shape", "gpt-oss-120b", "out"});
  EXPECT_THAT(kMakeModelHelp,
              HasSubstr(fmt::format("{:.1f} GB",
                                    static_cast<double>(RandomCheckpointBytes(large->checkpoint)) / 1e9)));
}

TEST(MakeModel, MakesAModelThatLoads) {
  const testing::TempDir folder;
  MakeModelFlags flags = Small(folder / "parent/model");
  const auto made = MakeModel(flags, kRunning);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(*made, StartsWith((folder / "parent/model").string() + ": "));
  const auto model = Model::Load(flags.out, {});
  EXPECT_TRUE(model) << model.error().message;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "parent"), {}), 1) << "only the model";
}

TEST(MakeModel, NeverOverwrites) {
  const testing::TempDir folder;
  std::ofstream(folder / "file") << "mine";
  for (const Path& out : {folder.path(), folder / "file", folder.path() / ""}) {
    const auto made = MakeModel(Small(out), kRunning);
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("is there already, and is not overwritten"));
    EXPECT_EQ(made.error().kind, ErrorKind::kUsage);
  }
  EXPECT_EQ(*ReadFile(folder / "file"), "mine");
}

TEST(MakeModel, StoppedItLeavesNothing) {
  const testing::TempDir folder;
  const auto made = MakeModel(Small(folder / "model"), kStopped);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kInterrupted);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(MakeModel, RefusesADiskThatCannotHoldIt) {
  const testing::TempDir folder;
  MakeModelFlags flags = Small(folder / "model");
  flags.checkpoint.shape = {1 << 22, 1 << 20, 64, 1, 4, 2, 16, 8, 4, 128, 131072};  // 17 TB of embedding
  const auto made = MakeModel(flags, kRunning);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("model: needs 17"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(MakeModel, CopiesATokenizerThatFitsAndItsEnds) {
  const testing::TempDir folder, tokenizer;
  WriteByteTokenizer(tokenizer.path());
  MakeModelFlags flags = Small(folder / "model");
  flags.tokenizer = tokenizer.path().string();
  const auto small = MakeModel(flags, kRunning);  // 264 ids, a vocabulary of 256
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().message,
              HasSubstr("has ids up to 263, and the vocabulary has 256; give --vocab 264"));
  flags.checkpoint.shape.vocab_size = 264;
  const auto made = MakeModel(flags, kRunning);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(*ReadFile(folder / "model/tokenizer.json"), *ReadFile(tokenizer / "tokenizer.json"));
  EXPECT_EQ(LoadGenerationConfig(folder / "model")->eos_token_ids.size(), 3u);
}

}  // namespace
}  // namespace assay::engine
