#include "tokenizer/byte_alphabet.h"

#include <gtest/gtest.h>

namespace assay::tokenizer {
namespace {

TEST(ByteAlphabet, WritesBytesAsGpt2Does) {
  EXPECT_EQ(AlphabetCharacter('a'), "a");
  EXPECT_EQ(AlphabetCharacter(' '), "Ġ");
  EXPECT_EQ(AlphabetCharacter('\n'), "Ċ");
  EXPECT_EQ(AlphabetCharacter(0), "Ā");
  EXPECT_EQ(AlphabetCharacter(0x7F), "ġ");
  EXPECT_EQ(AlphabetCharacter(0xAD), "Ń");
  EXPECT_EQ(AlphabetCharacter(0xFF), "ÿ");
}

TEST(ByteAlphabet, ReadsEveryByteBack) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string character = AlphabetCharacter(static_cast<unsigned char>(byte));
    EXPECT_EQ(BytesFromAlphabet(character), std::string(1, static_cast<char>(byte))) << byte;
  }
  EXPECT_EQ(BytesFromAlphabet("ĠcafÃ©"), " caf\xC3\xA9");
}

TEST(ByteAlphabet, RefusesOtherCharacters) {
  for (const char* text : {" ", "a b", "\n", "ń", "ű", "字", "🙂", "\xC4", "a\xFF", "\xAD", "\xC2\xAD"}) {
    EXPECT_EQ(BytesFromAlphabet(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace assay::tokenizer
