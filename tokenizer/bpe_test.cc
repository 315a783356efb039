#include "tokenizer/bpe.h"

#include <gtest/gtest.h>

#include <random>

#include "tokenizer/byte_alphabet.h"

namespace assay::tokenizer {
namespace {

// Bytes have the ids 0..255, `more` the ones after.
TokenizerFile Vocabulary(const std::vector<std::string>& more,
                         const std::vector<std::pair<std::string, std::string>>& merges) {
  TokenizerFile file;
  for (int byte = 0; byte < 256; ++byte) {
    file.vocabulary.emplace_back(AlphabetCharacter(static_cast<unsigned char>(byte)), byte);
  }
  for (const std::string& token : more) {
    file.vocabulary.emplace_back(token, static_cast<int32_t>(file.vocabulary.size()));
  }
  file.merges = merges;
  return file;
}

std::vector<int32_t> Encode(const Bpe& bpe, std::string_view word) {
  BpeWorkspace workspace;
  std::vector<int32_t> ids;
  bpe.Encode(word, &workspace, &ids);
  return ids;
}

TEST(Bpe, JoinsTheLowestRankFirstThenTheLeftmost) {
  const Bpe bpe =
      Bpe::Build(Vocabulary({"bc", "ab", "abc", "aa"}, {{"b", "c"}, {"a", "b"}, {"a", "bc"}, {"a", "a"}}),
                 false)
          .value();
  EXPECT_EQ(Encode(bpe, "ab"), (std::vector<int32_t>{257}));
  EXPECT_EQ(Encode(bpe, "abc"), (std::vector<int32_t>{258})) << "b+c comes before a+b";
  EXPECT_EQ(Encode(bpe, "aaa"), (std::vector<int32_t>{259, 'a'}));
  EXPECT_EQ(Encode(bpe, "aab"), (std::vector<int32_t>{'a', 257}));
  EXPECT_EQ(Encode(bpe, ""), std::vector<int32_t>{});
  EXPECT_EQ(Encode(bpe, "\xFF"), (std::vector<int32_t>{255}));
}

TEST(Bpe, TakesAWholeWordOnlyWhenMergesAreIgnored) {
  const TokenizerFile file = Vocabulary({"ab", "abab"}, {{"a", "b"}});
  EXPECT_EQ(Encode(Bpe::Build(file, false).value(), "abab"), (std::vector<int32_t>{256, 256}));
  EXPECT_EQ(Encode(Bpe::Build(file, true).value(), "abab"), (std::vector<int32_t>{257}));
  EXPECT_EQ(Encode(Bpe::Build(file, true).value(), "ababa"), (std::vector<int32_t>{256, 256, 'a'}));
}

TEST(Bpe, NeverGivesAWithheldTokenForAWord) {
  Bpe bpe = Bpe::Build(Vocabulary({"<|x|>"}, {}), true).value();
  EXPECT_EQ(Encode(bpe, "<|x|>"), (std::vector<int32_t>{256}));
  bpe.Withhold(256);
  EXPECT_EQ(Encode(bpe, "<|x|>"), (std::vector<int32_t>{'<', '|', 'x', '|', '>'}));
  EXPECT_EQ(bpe.token_bytes()[256], "<|x|>") << "decoding still knows it";
}

// The definition, by rescanning all pairs after each merge.
std::vector<int32_t> EncodeSlowly(const TokenizerFile& file, std::string_view word) {
  std::vector<std::string> parts;
  for (const char c : word) parts.push_back(AlphabetCharacter(static_cast<unsigned char>(c)));
  for (;;) {
    size_t best_rank = file.merges.size();
    size_t best_at = 0;
    for (size_t at = 0; at + 1 < parts.size(); ++at) {
      for (size_t rank = 0; rank < best_rank; ++rank) {
        if (file.merges[rank] != std::pair(parts[at], parts[at + 1])) continue;
        best_rank = rank;
        best_at = at;
      }
    }
    if (best_rank == file.merges.size()) break;
    parts[best_at] += parts[best_at + 1];
    parts.erase(parts.begin() + static_cast<long>(best_at) + 1);
  }
  std::vector<int32_t> ids;
  for (const std::string& part : parts) {
    for (const auto& [text, id] : file.vocabulary) {
      if (text == part) ids.push_back(id);
    }
  }
  return ids;
}

TEST(Bpe, AgreesWithTheDefinitionOnRandomVocabularies) {
  std::mt19937 random(1);
  for (int round = 0; round < 40; ++round) {
    TokenizerFile file = Vocabulary({}, {});
    std::vector<std::string> known = {"a", "b", "c"};
    for (int i = 0; i < 25; ++i) {
      const std::string left = known[random() % known.size()];
      const std::string right = known[random() % known.size()];
      const bool is_new = std::find(known.begin(), known.end(), left + right) == known.end();
      if (is_new) {
        known.push_back(left + right);
        file.vocabulary.emplace_back(left + right, static_cast<int32_t>(file.vocabulary.size()));
      }
      const std::pair pair(left, right);
      if (std::find(file.merges.begin(), file.merges.end(), pair) == file.merges.end())
        file.merges.push_back(pair);
    }
    const Bpe bpe = Bpe::Build(file, false).value();
    for (int i = 0; i < 50; ++i) {
      std::string word;
      for (size_t size = random() % 24; size > 0; --size) word += "abc"[random() % 3];
      ASSERT_EQ(Encode(bpe, word), EncodeSlowly(file, word)) << word;
    }
  }
}

TEST(Bpe, EncodesALongRunOfOneByte) {
  const Bpe bpe = Bpe::Build(Vocabulary({"aa", "aaaa"}, {{"a", "a"}, {"aa", "aa"}}), false).value();
  const std::vector<int32_t> ids = Encode(bpe, std::string(200'003, 'a'));
  EXPECT_EQ(ids.size(), 50'002u);
  EXPECT_EQ(ids.front(), 257);
  EXPECT_EQ(ids[50'000], 256);
  EXPECT_EQ(ids.back(), 'a');
}

TEST(Bpe, NamesWhatIsWrong) {
  const auto message = [](const TokenizerFile& file) { return Bpe::Build(file, false).error().message; };
  EXPECT_EQ(message({}), "model.vocab: missing or empty");
  TokenizerFile twice = Vocabulary({"ab"}, {});
  twice.vocabulary.back().second = 7;
  EXPECT_EQ(message(twice), "model.vocab: two tokens have the id 7");
  TokenizerFile no_blank = Vocabulary({}, {});
  no_blank.vocabulary.erase(no_blank.vocabulary.begin() + ' ');
  EXPECT_EQ(message(no_blank),
            "model.vocab: no token for the byte 0x20 (\"Ġ\"): this is not a byte-level vocabulary");
  EXPECT_EQ(message(Vocabulary({}, {{"a", "b"}})), "model.merges[0]: \"ab\" is not in model.vocab");
  EXPECT_EQ(message(Vocabulary({"ab"}, {{"a", "b"}, {"xy", "b"}})),
            "model.merges[1]: \"xy\" is not in model.vocab");
}

}  // namespace
}  // namespace assay::tokenizer
