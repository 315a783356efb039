#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/text.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"

namespace assay::tokenizer {
namespace {

// The strings of tools/tokenizer/make_digests.py, made in the same steps from the same numbers.
class StringMaker {
 public:
  std::string Next() {
    std::string text;
    for (uint32_t left = 1 + Below(24); left > 0; --left) Piece(text);
    return text;
  }

  // A linear congruential generator (Knuth's MMIX), its upper half.
  uint32_t Below(uint32_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33) % bound;
  }

 private:
  void Piece(std::string& text) {
    static const std::vector<std::string> kBlanks = {" ",  "\n",     "\r\n",   "\t",
                                                     "  ", "\u00a0", "\u2028", "\u3000"};
    static const std::vector<std::string> kWords = {
        "'s",      "'LL",           "<|end|>",
        "<|start", "the",           " License",
        "\u00e9",  "o\u0308\u0332", "\U0001F468\u200d\U0001F469\u200d\U0001F467",
        "//\n"};
    switch (Below(8)) {
      case 0:
        Character(text, 0x20 + Below(0x5f));
        break;
      case 1:
        Character(text, Below(0x10000));
        break;
      case 2:
        Character(text, Below(0x110000));
        break;
      case 3:
        for (uint32_t left = 1 + Below(8); left > 0; --left) Character(text, 'a' + Below(26));
        break;
      case 4:
        for (uint32_t left = 1 + Below(5); left > 0; --left) Character(text, '0' + Below(10));
        break;
      case 5:
        text += kBlanks[Below(static_cast<uint32_t>(kBlanks.size()))];
        break;
      case 6:
        text += kWords[Below(static_cast<uint32_t>(kWords.size()))];
        break;
      default:
        Character(text, 'A' + Below(26));
    }
  }

  static void Character(std::string& text, uint32_t code) {
    if (code >= 0xD800 && code < 0xE000) code = ' ';
    if (code < 0x80) {
      text += static_cast<char>(code);
      return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    const uint32_t lead = more == 1 ? 0xC0 : more == 2 ? 0xE0 : 0xF0;
    text += static_cast<char>(lead | (code >> (6 * more)));
    for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
  }

  uint64_t state_ = 20;
};

struct Digest {
  const char* name;
  const char* folder;
  const char* sha256;  // of the ids that Hugging Face tokenizers gives for 20,000 strings
};

class Digests : public testing::TestWithParam<Digest> {};

TEST_P(Digests, TwentyThousandRandomStringsAreEncodedAsHuggingFaceDoes) {
  const Tokenizer tokenizer = Tokenizer::Load(Path(ASSAY_SOURCE_DIR) / GetParam().folder).value();
  StringMaker strings;
  std::string all;
  for (int i = 0; i < 20'000; ++i) {
    for (const int32_t id : tokenizer.Encode(strings.Next(), Tokenizer::Specials::kParse)) {
      all += std::to_string(id) + " ";
    }
    all += "\n";
  }
  EXPECT_EQ(Sha256(all), GetParam().sha256);
}

INSTANTIATE_TEST_SUITE_P(
    Tokenizers, Digests,
    testing::Values(Digest{"O200kStyle", "tokenizer/testdata/o200k_style",
                           "c14309bf4c32b2f903c2569c908f4d46ecca053672bd12f4746268cafe3ca01a"},
                    Digest{"Gpt2Style", "tokenizer/testdata/gpt2_style",
                           "3478b39fbd03b28d739a3d8bebddef14c793c4a6d96c42a9301a4122c685fa6f"},
                    Digest{"TinyMoe", "models/tiny-moe",
                           "214e9bd84c7cdceaf2c9f1695434453da390f49d5411c236676b1dd366c92f66"}),
    [](const auto& row) { return row.param.name; });

// Whatever ids a model gives, in whatever order: each piece is whole characters, and the pieces are the text.
TEST(IncrementalDecoder, StreamsAnySequenceOfTokensWithoutABrokenCharacter) {
  const Tokenizer tokenizer =
      Tokenizer::Load(Path(ASSAY_SOURCE_DIR) / "tokenizer/testdata/o200k_style").value();
  StringMaker random;
  for (int round = 0; round < 2'000; ++round) {
    const bool skip_specials = random.Below(2) == 0;
    const bool bytes_only = random.Below(2) == 0;  // the first 256 ids: mostly broken
    std::vector<int32_t> ids(1 + random.Below(60));
    const auto bound = static_cast<uint32_t>(bytes_only ? 256 : tokenizer.Size() + 2);
    for (int32_t& id : ids) id = static_cast<int32_t>(random.Below(bound));
    IncrementalDecoder decoder(tokenizer, skip_specials);
    std::string streamed;
    for (const int32_t id : ids) {
      const std::string piece = decoder.Add(id);
      ASSERT_TRUE(IsValidUtf8(piece)) << round;
      streamed += piece;
    }
    streamed += decoder.Finish();
    ASSERT_EQ(streamed, RepairUtf8(tokenizer.Decode(ids, skip_specials))) << round;
  }
}

}  // namespace
}  // namespace assay::tokenizer
