#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "tokenizer/pair_table.h"
#include "tokenizer/tokenizer_file.h"

namespace assay::tokenizer {

// Memory that encoding reuses from word to word; one for each thread.
struct BpeWorkspace {
  // A joined run of bytes in a list linked by index, -1 at its ends; `id` is -1 once it is part of its left
  // neighbour.
  struct Symbol {
    int32_t id, previous, next;
  };
  // Two neighbours that could become token `id`.
  struct Candidate {
    int32_t rank, left, id;
  };
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

// Byte-pair encoding of one pre-token: start from single bytes and join the adjacent pair of lowest rank,
// leftmost first, until no pair has a rank. Thread-safe after construction.
class Bpe {
 public:
  Bpe(Bpe&&) = default;
  Bpe& operator=(Bpe&&) = default;

  // Fails when the vocabulary lacks a byte, gives two tokens one id, or a merge names no token.
  // `ignore_merges` takes a word that is a token as that token, whatever the merges give.
  static Result<Bpe> Build(const TokenizerFile& file, bool ignore_merges);

  // Appends the tokens of `word`, any bytes.
  void Encode(std::string_view word, BpeWorkspace* workspace, std::vector<int32_t>* ids) const;

  // The token that these bytes are as a whole.
  std::optional<int32_t> Find(std::string_view bytes) const;

  // By id; empty for an id that is no token.
  const std::vector<std::string>& token_bytes() const { return token_bytes_; }

  // A control token must not come out of plain text, not even when a whole word spells it.
  void Withhold(int32_t id);

 private:
  Bpe() = default;
  Status AddTokens(const TokenizerFile& file);
  Status AddMerges(const TokenizerFile& file);
  void Merge(std::string_view word, BpeWorkspace* workspace, std::vector<int32_t>* ids) const;

  bool ignore_merges_ = false;
  std::vector<std::string> token_bytes_;
  std::unordered_map<std::string_view, int32_t> words_;  // views of token_bytes_
  std::array<int32_t, 256> byte_ids_{};
  PairTable merges_;
};

}  // namespace assay::tokenizer
