#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "testing/temp_dir.h"
#include "tokenizer/tokenizer.h"

namespace assay::tokenizer {
namespace {

using nlohmann::json;

const Path kTestdata = Path(ASSAY_SOURCE_DIR) / "tokenizer" / "testdata";

std::string LoadError(const Path& folder) {
  const auto tokenizer = Tokenizer::Load(folder);
  if (tokenizer) return "loaded";
  EXPECT_EQ(tokenizer.error().kind, ErrorKind::kUsage);
  return tokenizer.error().message;
}

// The o200k-style tokenizer with some parts changed: JSON pointer -> new value.
struct Change {
  const char* name;
  json patch;
  const char* message;  // a part of the error; "loaded" when there must be none
};

class ChangedTokenizer : public ::testing::TestWithParam<Change> {};

TEST_P(ChangedTokenizer, IsRefusedByThePartThatWeDoNotDo) {
  const testing::TempDir folder;
  json content = json::parse(ReadFile(kTestdata / "o200k_style" / "tokenizer.json").value());
  for (const auto& [pointer, value] : GetParam().patch.items()) content[json::json_pointer(pointer)] = value;
  ASSERT_TRUE(WriteFileAtomic(folder / "tokenizer.json", content.dump()));
  const std::string error = LoadError(folder.path());
  EXPECT_NE(error.find(GetParam().message), std::string::npos) << error;
  if (error != "loaded") {
    EXPECT_NE(error.find("tokenizer.json: "), std::string::npos) << error;
    EXPECT_NE(error.find("--tokenizer FOLDER"), std::string::npos) << error;
  }
}

const json kByteLevel = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};

INSTANTIATE_TEST_SUITE_P(
    Parts, ChangedTokenizer,
    ::testing::Values(
        Change{"Nothing", json::object(), "loaded"},
        Change{"NoModelType", {{"/model/type", nullptr}}, "loaded"},
        Change{"UnigramModel",
               {{"/model/type", "Unigram"}},
               "model.type: \"Unigram\" is not supported, only \"BPE\" is"},
        Change{"NoModel", {{"/model", nullptr}}, "model: missing"},
        Change{"VocabularyList", {{"/model/vocab", json::array()}}, "model.vocab: missing or empty"},
        Change{"VocabularyText", {{"/model/vocab/a", "x"}}, "model.vocab: the id of \"a\" is not a number"},
        Change{"VocabularyNegative", {{"/model/vocab/a", -1}}, "model.vocab: the id of \"a\" is -1"},
        Change{"VocabularyHuge", {{"/model/vocab/a", 99999999}}, "model.vocab: the id of \"a\" is 99999999"},
        Change{"VocabularyTwice", {{"/model/vocab/a", 3}}, "model.vocab: two tokens have the id 3"},
        Change{"MergeWithoutBlank", {{"/model/merges/0", "ab"}}, "model.merges[0]: needs exactly one blank"},
        Change{"NoMerges", {{"/model/merges", json::array()}}, "model.merges: there are none, though"},
        Change{"MergeOfThree", {{"/model/merges/2", {"a", "b", "c"}}}, "model.merges[2]: is not a pair"},
        Change{"MergeOfOne", {{"/model/merges/2", {"a"}}}, "model.merges[2]: is not a pair"},
        Change{"MergeNumber", {{"/model/merges/1", 5}}, "model.merges[1]: is neither"},
        Change{"MergeUnknown",
               {{"/model/merges/0", {"a", "字"}}},
               "model.merges[0]: \"字\" is not in model.vocab"},
        Change{"Dropout", {{"/model/dropout", 0.1}}, "model.dropout: 0.1 is not supported"},
        Change{"WordSuffix",
               {{"/model/end_of_word_suffix", "</w>"}},
               "model.end_of_word_suffix: \"</w>\" is not"},
        Change{"WordPrefix", {{"/model/continuing_subword_prefix", "##"}}, "model.continuing_subword_prefix"},
        Change{
            "ByteFallback", {{"/model/byte_fallback", true}}, "model.byte_fallback: true is not supported"},
        Change{"IgnoreMergesText",
               {{"/model/ignore_merges", "yes"}},
               "model.ignore_merges: \"yes\" is not supported"},
        Change{"Nfc",
               {{"/normalizer", {{"type", "NFC"}}}},
               "normalizer: {\"type\":\"NFC\"} is not supported, only null"},
        Change{"NoNormalizers",
               {{"/normalizer", {{"type", "Sequence"}, {"normalizers", json::array()}}}},
               "loaded"},
        Change{"Truncation",
               {{"/truncation", {{"max_length", 5}}}},
               "truncation: {\"max_length\":5} is not supported"},
        Change{"Padding", {{"/padding", {{"strategy", "x"}}}}, "padding: "},
        Change{"ByteLevelAlone", {{"/pre_tokenizer", kByteLevel}}, "loaded"},
        Change{"ByteLevelFirst", {{"/pre_tokenizer/pretokenizers/0", kByteLevel}}, "pre_tokenizer: {"},
        Change{"NoPreTokenizer", {{"/pre_tokenizer", nullptr}}, "pre_tokenizer: null is not supported"},
        Change{"Metaspace",
               {{"/pre_tokenizer", {{"type", "Metaspace"}}}},
               "pre_tokenizer: {\"type\":\"Metaspace\"}"},
        Change{"PrefixSpace",
               {{"/pre_tokenizer/pretokenizers/1/add_prefix_space", true}},
               "pre_tokenizer.ByteLevel.add_prefix_space: true is not supported"},
        Change{"SplitRemoved",
               {{"/pre_tokenizer/pretokenizers/0/behavior", "Removed"}},
               "pre_tokenizer.Split.behavior: \"Removed\" is not supported"},
        Change{"SplitInverted",
               {{"/pre_tokenizer/pretokenizers/0/invert", true}},
               "pre_tokenizer.Split.invert: true"},
        Change{"SplitByText",
               {{"/pre_tokenizer/pretokenizers/0/pattern", {{"String", "a"}}}},
               "pre_tokenizer.Split.pattern: {\"String\":\"a\"} is not supported"},
        Change{"SplitByWords",
               {{"/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\w+"}},
               "pre_tokenizer: \\w is not supported at byte 0 of the pattern \\w+"},
        Change{"NoDecoder", {{"/decoder", nullptr}}, "decoder: null is not supported, only ByteLevel is"},
        Change{"ByteLevelPostProcessor", {{"/post_processor", {{"type", "ByteLevel"}}}}, "loaded"},
        Change{"EmptyTemplate",
               {{"/post_processor",
                 {{"type", "TemplateProcessing"}, {"single", {{{"Sequence", {{"id", "A"}}}}}}}}},
               "loaded"},
        Change{"TemplateWithBos",
               {{"/post_processor",
                 {{"type", "TemplateProcessing"},
                  {"single", {{{"SpecialToken", {{"id", "<s>"}}}}, {{"Sequence", {{"id", "A"}}}}}}}}},
               "post_processor: {"},
        Change{"AddedLeftStrip",
               {{"/added_tokens/1/lstrip", true}},
               "added_tokens[1].lstrip: true is not supported"},
        Change{"AddedRightStrip",
               {{"/added_tokens/0/rstrip", true}},
               "added_tokens[0].rstrip: true is not supported"},
        Change{
            "AddedSingleWord", {{"/added_tokens/0/single_word", true}}, "added_tokens[0].single_word: true"},
        Change{"AddedWithoutText", {{"/added_tokens/0/content", nullptr}}, "added_tokens[0]: {"},
        Change{"AddedEmpty", {{"/added_tokens/0/content", ""}}, "added_tokens[0]: the content is empty"},
        Change{"AddedNegative", {{"/added_tokens/0/id", -4}}, "added_tokens[0]: {"},
        Change{
            "AddedOutOfPlace",
            {{"/added_tokens/0/id", 5000}},
            "added_tokens[0]: \"<|startoftext|>\" has the id 5000, but its place in the file gives it 640"},
        Change{"AddedAsAnotherToken",
               {{"/added_tokens/0/content", "a"}},
               "added_tokens[0]: \"a\" has the id 640, but its place in the file gives it"},
        Change{"SpecialOutOfMerges",
               {{"/added_tokens/8/content", "in"}, {"/added_tokens/8/id", 263}},
               "makes the special token \"in\" out of plain text"},
        Change{"AddedNotAList", {{"/added_tokens", 3}}, "added_tokens: 3 is not supported, only a list is"}),
    [](const auto& row) { return row.param.name; });

TEST(TokenizerLoad, NamesTheClassTheFileAndTheRemedyWhenOnlyAClassIsNamed) {
  const testing::TempDir folder;
  ASSERT_TRUE(
      WriteFileAtomic(folder / "tokenizer_config.json", R"({"tokenizer_class": "TokenizersBackend"})"));
  const std::string error = LoadError(folder.path());
  EXPECT_EQ(
      error,
      (folder / "tokenizer.json").string() +
          ": there is no such file (tokenizer_config.json names the class TokenizersBackend, which is no "
          "help: only tokenizer.json is read); pass a folder with a usable byte-level BPE tokenizer.json "
          "with --tokenizer FOLDER");
}

TEST(TokenizerLoad, NamesAFileThatIsCutOffOrEmpty) {
  const testing::TempDir folder;
  const std::string whole = ReadFile(kTestdata / "o200k_style" / "tokenizer.json").value();
  for (const size_t size : {whole.size() / 3, whole.size() - 2, size_t{1}}) {
    ASSERT_TRUE(WriteFileAtomic(folder / "tokenizer.json", whole.substr(0, size)));
    const std::string error = LoadError(folder.path());
    EXPECT_NE(error.find("tokenizer.json: not valid JSON at byte"), std::string::npos) << error;
    EXPECT_NE(error.find("perhaps cut off"), std::string::npos) << error;
  }
  ASSERT_TRUE(WriteFileAtomic(folder / "tokenizer.json", " \n"));
  EXPECT_NE(LoadError(folder.path()).find("tokenizer.json: the file is empty"), std::string::npos);
  ASSERT_TRUE(WriteFileAtomic(folder / "tokenizer.json", "[]"));
  EXPECT_NE(LoadError(folder.path()).find("tokenizer.json: a JSON object is needed"), std::string::npos);
  ASSERT_TRUE(WriteFileAtomic(folder / "tokenizer.json", "{\"model\": \"\xFF\"}"));
  EXPECT_NE(LoadError(folder.path()).find("not valid JSON"), std::string::npos);
}

TEST(TokenizerLoad, NamesABrokenConfigAndAMissingFolder) {
  const testing::TempDir folder;
  ASSERT_TRUE(WriteFileAtomic(folder / "tokenizer_config.json", "{\"tokenizer_class\": \"Tok"));
  EXPECT_NE(LoadError(folder.path()).find("tokenizer_config.json: not a JSON object, perhaps cut off"),
            std::string::npos);
  EXPECT_EQ(LoadError("/nonexistent/folder").find("/nonexistent/folder: no such folder; pass a folder"), 0u);
}

TEST(TokenizerLoad, TakesAnyClassWhenTheFileIsUsable) {
  const testing::TempDir folder;
  const std::string text = ReadFile(kTestdata / "gpt2_style" / "tokenizer.json").value();
  ASSERT_TRUE(WriteFileAtomic(folder / "tokenizer.json", text));
  EXPECT_EQ(Tokenizer::Load(folder.path()).value().ClassName(), "");
  ASSERT_TRUE(
      WriteFileAtomic(folder / "tokenizer_config.json", R"({"tokenizer_class": "TokenizersBackend"})"));
  const Tokenizer tokenizer = Tokenizer::Load(folder.path()).value();
  EXPECT_EQ(tokenizer.ClassName(), "TokenizersBackend");
  EXPECT_EQ(tokenizer.Hash(), Sha256(text));
  EXPECT_EQ(tokenizer.Size(), 647);
}

}  // namespace
}  // namespace assay::tokenizer
