#include "tokenizer/consistency.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"

namespace assay::tokenizer {
namespace {

// The file says the ids of added tokens, Hugging Face tokenizers counts them by place; where the two differ,
// the text would get other tokens there than here.
Status CheckAddedIds(const TokenizerFile& file, const std::vector<AddedToken>& added_tokens) {
  std::unordered_map<std::string_view, int32_t> known;  // content -> id
  std::unordered_set<int32_t> taken;
  for (const auto& [text, id] : file.vocabulary) {
    known.emplace(text, id);
    taken.insert(id);
  }
  auto next = static_cast<int32_t>(file.vocabulary.size());
  for (size_t i = 0; i < added_tokens.size(); ++i) {
    const auto& [id, content, special, normalized] = added_tokens[i];
    if (content.empty()) return Fail(ErrorKind::kUsage, "added_tokens[{}]: the content is empty", i);
    const auto same = known.find(content);
    const int32_t expected = same != known.end() ? same->second : next;
    if (id != expected) {
      return Fail(ErrorKind::kUsage,
                  "added_tokens[{}]: \"{}\" has the id {}, but its place in the file gives it {}", i,
                  Printable(content), id, expected);
    }
    if (same == known.end() && !taken.insert(id).second) {
      return Fail(ErrorKind::kUsage, "added_tokens[{}]: \"{}\" has the id {} of another token", i,
                  Printable(content), id);
    }
    known.emplace(content, id);
    next = std::max(next, id + 1);
  }
  return {};
}

// A control token that merges make out of plain text is one that a user can type.
Status CheckMergesMakeNoSpecial(const TokenizerFile& file, const std::vector<AddedToken>& added_tokens) {
  std::unordered_set<std::string_view> specials;
  for (const AddedToken& token : added_tokens) {
    if (token.special) specials.insert(token.content);
  }
  std::string joined;
  for (size_t rank = 0; rank < file.merges.size(); ++rank) {
    joined = file.merges[rank].first;
    joined += file.merges[rank].second;
    if (specials.count(joined) == 0) continue;
    return Fail(ErrorKind::kUsage, "model.merges[{}]: makes the special token \"{}\" out of plain text", rank,
                Printable(joined));
  }
  return {};
}

}  // namespace

Status CheckConsistency(const TokenizerFile& file, const Definition& definition) {
  RETURN_IF_ERROR(CheckAddedIds(file, definition.added_tokens));
  return CheckMergesMakeNoSpecial(file, definition.added_tokens);
}

}  // namespace assay::tokenizer
