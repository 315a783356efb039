#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tokenizer {

// A token that is found in the text before anything else is done to it.
struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool special = false;     // a control token
  bool normalized = false;  // looked for after all that are not normalized
};

// A stretch of text: an added token, or plain text when `id` is negative.
struct Span {
  std::string_view text;
  int32_t id = -1;
};

// Finds added tokens: the leftmost, and of those that start there the longest.
class AddedTokenFinder {
 public:
  AddedTokenFinder() = default;
  explicit AddedTokenFinder(std::vector<AddedToken> tokens);

  // With `specials_as_text` a control token is found and left as text, so that it hides no other token and
  // none hides it: `encode_special_tokens` of Hugging Face tokenizers.
  std::vector<Span> Split(std::string_view text, bool specials_as_text) const;

 private:
  // Indices into tokens_ by first byte, longest content first.
  using Index = std::array<std::vector<size_t>, 256>;
  const AddedToken* Longest(const Index& index, std::string_view text) const;
  void Split(const Index& index, std::string_view text, bool specials_as_text,
             std::vector<Span>* spans) const;

  std::vector<AddedToken> tokens_;
  Index first_;   // not normalized
  Index second_;  // normalized
};

}  // namespace assay::tokenizer
