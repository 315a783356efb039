#include "tokenizer/utf8.h"

#include <cstdint>

namespace assay::tokenizer {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

enum class Utf8 { kValid, kInvalid, kIncomplete };
struct Sequence {
  Utf8 kind;
  size_t size;
};

struct ByteRange {
  uint8_t least, most;
};

// Which second bytes may follow a lead byte (Unicode 15, table 3-7); the later ones are 80..BF.
ByteRange SecondByte(uint8_t lead) {
  if (lead == 0xE0) return {0xA0, 0xBF};
  if (lead == 0xED) return {0x80, 0x9F};
  if (lead == 0xF0) return {0x90, 0xBF};
  if (lead == 0xF4) return {0x80, 0x8F};
  return {0x80, 0xBF};
}

// The sequence that `bytes`, not empty, starts with; an invalid one ends before the byte that breaks it.
Sequence First(std::string_view bytes) {
  const auto lead = static_cast<uint8_t>(bytes[0]);
  if (lead < 0x80) return {Utf8::kValid, 1};
  if (lead < 0xC2 || lead > 0xF4) return {Utf8::kInvalid, 1};
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  ByteRange range = SecondByte(lead);
  for (size_t i = 1; i < size; ++i) {
    if (i == bytes.size()) return {Utf8::kIncomplete, i};
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (byte < range.least || byte > range.most) return {Utf8::kInvalid, i};
    range = {0x80, 0xBF};
  }
  return {Utf8::kValid, size};
}

}  // namespace

std::string RepairUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Sequence sequence = First(bytes);
    text += sequence.kind == Utf8::kValid ? bytes.substr(0, sequence.size) : kReplacement;
    bytes.remove_prefix(sequence.size);
  }
  return text;
}

size_t CompleteUtf8Size(std::string_view bytes) {
  // The incomplete sequence has at most three bytes and starts at the last byte that is not 80..BF.
  for (size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const size_t start = bytes.size() - back;
    if ((static_cast<uint8_t>(bytes[start]) & 0xC0) == 0x80) continue;
    return First(bytes.substr(start)).kind == Utf8::kIncomplete ? start : bytes.size();
  }
  return bytes.size();
}

}  // namespace assay::tokenizer
