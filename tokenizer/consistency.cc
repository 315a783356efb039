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
  std::unordered_map<std::string_view, int32_t> known;  // content -> id; -1: not seen yet
  for (const AddedToken& token : added_tokens) known.emplace(token.content, -1);
  std::vector<bool> taken;  // by id
  const auto take = [&](int32_t id) {
    if (static_cast<size_t>(id) >= taken.size()) taken.resize(static_cast<size_t>(id) + 1);
    const bool is_free = !taken[id];
    taken[id] = true;
    return is_free;
  };
  for (const auto& [text, id] : file.vocabulary) {
    take(id);
    if (const auto added = known.find(text); added != known.end()) added->second = id;
  }
  auto next = static_cast<int32_t>(file.vocabulary.size());
  for (size_t i = 0; i < added_tokens.size(); ++i) {
    const auto& [id, content, special, normalized] = added_tokens[i];
    if (content.empty()) return Fail(ErrorKind::kUsage, "added_tokens[{}]: the content is empty", i);
    int32_t& known_id = known[content];
    const int32_t expected = known_id >= 0 ? known_id : next;
    if (id != expected) {
      return Fail(ErrorKind::kUsage,
                  "added_tokens[{}]: \"{}\" has the id {}, but its place in the file gives it {}", i,
                  Printable(content), id, expected);
    }
    if (known_id < 0 && !take(id)) {
      return Fail(ErrorKind::kUsage, "added_tokens[{}]: \"{}\" has the id {} of another token", i,
                  Printable(content), id);
    }
    known_id = id;
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

// Without merges only single bytes would come out of most texts, whatever longer tokens the model knows.
Status CheckMergesAreThere(const TokenizerFile& file, const std::vector<AddedToken>& added_tokens) {
  if (!file.merges.empty()) return {};
  std::unordered_set<std::string_view> added;
  for (const AddedToken& token : added_tokens) added.insert(token.content);
  for (const auto& [text, id] : file.vocabulary) {
    // A byte is one character of the alphabet: one or two bytes of UTF-8.
    const bool single = text.size() == 1 || (text.size() == 2 && (text[0] & 0x80) != 0);
    if (single || added.contains(text)) continue;
    return Fail(ErrorKind::kUsage,
                "model.merges: there are none, though model.vocab has \"{}\"; the file is incomplete",
                Printable(text));
  }
  return {};
}

}  // namespace

Status CheckConsistency(const TokenizerFile& file, const Definition& definition) {
  RETURN_IF_ERROR(CheckAddedIds(file, definition.added_tokens));
  RETURN_IF_ERROR(CheckMergesAreThere(file, definition.added_tokens));
  return CheckMergesMakeNoSpecial(file, definition.added_tokens);
}

}  // namespace assay::tokenizer
