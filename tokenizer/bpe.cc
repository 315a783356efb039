#include "tokenizer/bpe.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "tokenizer/byte_alphabet.h"

namespace assay::tokenizer {
namespace {

using Candidate = BpeWorkspace::Candidate;

// The heap's top is the lowest rank, then the leftmost.
bool Later(const Candidate& a, const Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
}

}  // namespace

Result<Bpe> Bpe::Build(const TokenizerFile& file, bool ignore_merges) {
  Bpe bpe;
  bpe.ignore_merges_ = ignore_merges;
  RETURN_IF_ERROR(bpe.AddTokens(file));
  RETURN_IF_ERROR(bpe.AddMerges(file));
  return bpe;
}

Status Bpe::AddTokens(const TokenizerFile& file) {
  if (file.vocabulary.empty()) return Fail(ErrorKind::kUsage, "model.vocab: missing or empty");
  int32_t most = 0;
  for (const auto& [text, id] : file.vocabulary) most = std::max(most, id);
  token_bytes_.resize(static_cast<size_t>(most) + 1);
  words_.reserve(file.vocabulary.size());
  std::vector<bool> taken(token_bytes_.size());
  for (const auto& [text, id] : file.vocabulary) {
    if (taken[id]) return Fail(ErrorKind::kUsage, "model.vocab: two tokens have the id {}", id);
    taken[id] = true;
    // A token with a character outside the alphabet is its own text; no word can become it.
    std::optional<std::string> bytes = BytesFromAlphabet(text);
    token_bytes_[id] = bytes ? std::move(*bytes) : text;
    if (bytes) words_.emplace(token_bytes_[id], id);
  }
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const auto token = words_.find(std::string_view(&c, 1));
    if (token == words_.end()) {
      return Fail(ErrorKind::kUsage,
                  "model.vocab: no token for the byte {:#04x} (\"{}\"): this is not a byte-level vocabulary",
                  byte, AlphabetCharacter(static_cast<unsigned char>(byte)));
    }
    byte_ids_[byte] = token->second;
  }
  return {};
}

std::optional<int32_t> Bpe::Find(std::string_view bytes) const {
  const auto token = words_.find(bytes);
  return token == words_.end() ? std::nullopt : std::optional(token->second);
}

Status Bpe::AddMerges(const TokenizerFile& file) {
  merges_.Reserve(file.merges.size());
  for (size_t rank = 0; rank < file.merges.size(); ++rank) {
    const auto& [left, right] = file.merges[rank];
    const auto missing = [&](std::string_view part) {
      return Fail(ErrorKind::kUsage, "model.merges[{}]: \"{}\" is not in model.vocab", rank, Printable(part));
    };
    const std::optional<std::string> left_bytes = BytesFromAlphabet(left);
    const std::optional<int32_t> left_id = left_bytes ? Find(*left_bytes) : std::nullopt;
    if (!left_id) return missing(left);
    const std::optional<std::string> right_bytes = BytesFromAlphabet(right);
    const std::optional<int32_t> right_id = right_bytes ? Find(*right_bytes) : std::nullopt;
    if (!right_id) return missing(right);
    const std::optional<int32_t> joined = Find(*left_bytes + *right_bytes);
    if (!joined) return missing(left + right);
    // A pair named twice has its last rank.
    merges_.Set(*left_id, *right_id, {static_cast<int32_t>(rank), *joined});
  }
  return {};
}

void Bpe::Withhold(int32_t id) {
  if (id >= static_cast<int32_t>(token_bytes_.size())) return;
  const auto word = words_.find(token_bytes_[id]);
  if (word != words_.end() && word->second == id) words_.erase(word);
}

void Bpe::Encode(std::string_view word, BpeWorkspace* workspace, std::vector<int32_t>* ids) const {
  if (word.size() == 1) return ids->push_back(byte_ids_[static_cast<uint8_t>(word[0])]);
  if (ignore_merges_) {
    if (const auto token = words_.find(word); token != words_.end()) return ids->push_back(token->second);
  }
  Merge(word, workspace, ids);
}

void Bpe::Merge(std::string_view word, BpeWorkspace* workspace, std::vector<int32_t>* ids) const {
  auto& [symbols, heap] = *workspace;
  symbols.clear();
  heap.clear();
  const auto size = static_cast<int32_t>(word.size());
  for (int32_t i = 0; i < size; ++i) {
    symbols.push_back({byte_ids_[static_cast<uint8_t>(word[i])], i - 1, i + 1 < size ? i + 1 : -1});
  }
  const auto consider = [&, &symbols = symbols, &heap = heap](int32_t at) {
    if (at < 0 || symbols[at].next < 0) return;
    const PairTable::Merge* merge = merges_.Find(symbols[at].id, symbols[symbols[at].next].id);
    if (merge == nullptr) return;
    heap.push_back({merge->rank, at, merge->id});
    std::push_heap(heap.begin(), heap.end(), Later);
  };
  for (int32_t i = 0; i < size; ++i) consider(i);
  while (!heap.empty()) {
    const Candidate best = heap.front();
    std::pop_heap(heap.begin(), heap.end(), Later);
    heap.pop_back();
    BpeWorkspace::Symbol& left = symbols[best.left];
    if (left.id < 0 || left.next < 0) continue;
    BpeWorkspace::Symbol& right = symbols[left.next];
    // The pair at this place may have changed since it was put on the heap.
    const PairTable::Merge* merge = merges_.Find(left.id, right.id);
    if (merge == nullptr || merge->id != best.id) continue;
    left.id = best.id;
    right.id = -1;
    left.next = right.next;
    if (left.next >= 0) symbols[left.next].previous = best.left;
    consider(left.previous);
    consider(best.left);
  }
  for (int32_t at = size == 0 ? -1 : 0; at >= 0; at = symbols[at].next) ids->push_back(symbols[at].id);
}

}  // namespace assay::tokenizer
