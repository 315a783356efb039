#include "tokenizer/added_tokens.h"

#include <algorithm>

#include "base/text.h"

namespace assay::tokenizer {

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::stable_sort(tokens_.begin(), tokens_.end(), [](const AddedToken& a, const AddedToken& b) {
    return a.content.size() > b.content.size();
  });
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].content.empty()) continue;
    const auto first_byte = static_cast<uint8_t>(tokens_[i].content[0]);
    (tokens_[i].normalized ? second_ : first_)[first_byte].push_back(i);
  }
}

const AddedToken* AddedTokenFinder::Longest(const Index& index, std::string_view text) const {
  for (const size_t i : index[static_cast<uint8_t>(text[0])]) {
    if (StartsWith(text, tokens_[i].content)) return &tokens_[i];
  }
  return nullptr;
}

void AddedTokenFinder::Split(const Index& index, std::string_view text, bool specials_as_text,
                             std::vector<Span>* spans) const {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token = Longest(index, text.substr(at));
    if (token == nullptr) {
      ++at;
      continue;
    }
    const size_t end = at + token->content.size();
    if (!(token->special && specials_as_text)) {
      if (at > done) spans->push_back({text.substr(done, at - done)});
      spans->push_back({text.substr(at, end - at), token->id});
      done = end;
    }
    at = end;
  }
  if (done < text.size()) spans->push_back({text.substr(done)});
}

std::vector<Span> AddedTokenFinder::Split(std::string_view text, bool specials_as_text) const {
  std::vector<Span> first;
  Split(first_, text, specials_as_text, &first);
  std::vector<Span> spans;
  for (const Span& span : first) {
    if (span.id >= 0) {
      spans.push_back(span);
    } else {
      Split(second_, span.text, specials_as_text, &spans);
    }
  }
  return spans;
}

}  // namespace assay::tokenizer
