#include "evals/gpqa/question_text.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace assay::evals {
namespace {

constexpr size_t kWindow = 16;
constexpr int kEscapes = 2;  // escaped so often is still seen

// Bytes, and the stretch of the original text that each stands for.
struct Reading {
  std::string bytes;
  std::vector<std::pair<size_t, size_t>> from;  // [begin, end)

  void Add(std::string_view added, size_t begin, size_t end) {
    for (const char byte : added) {
      bytes += byte;
      from.emplace_back(begin, end);
    }
  }
};

std::optional<uint32_t> Hex(std::string_view digits, size_t count) {
  if (digits.size() < count) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    const char c = digits[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<uint32_t>(digit);
  }
  return value;
}

std::string Utf8(uint32_t code) {
  std::string bytes;
  const auto add = [&](uint32_t byte) { bytes += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6), add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12), add(0x80 | (code >> 6 & 0x3F)), add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | (code >> 18 & 7)), add(0x80 | (code >> 12 & 0x3F)), add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  }
  return bytes;
}

struct Escape {
  std::string means;
  size_t length = 0;  // of the escape; 0: there is none
};

// "\u00e9" and, of two, "\ud83d\ude00".
Escape Unicode(std::string_view text) {
  const auto high = Hex(text.substr(2), 4);
  if (!high) return {};
  if (*high >= 0xD800 && *high < 0xDC00 && text.substr(6, 2) == "\\u") {
    const auto low = Hex(text.substr(8), 4);
    if (low && *low >= 0xDC00 && *low < 0xE000)
      return {Utf8(0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00)), 12};
  }
  return {Utf8(*high), 6};
}

Escape Backslashed(std::string_view text) {
  if (text.size() < 2) return {};
  switch (text[1]) {
    case 'n':
    case 't':
    case 'r':
    case 'b':
    case 'f':
    case 'v':
      return {" ", 2};
    case 'u':
      return Unicode(text);
    case 'U': {
      const auto code = Hex(text.substr(2), 8);
      return code ? Escape{Utf8(*code), 10} : Escape{};
    }
    case 'x': {
      const auto byte = Hex(text.substr(2), 2);
      return byte ? Escape{std::string(1, static_cast<char>(*byte)), 4} : Escape{};
    }
    default:
      return {std::string(1, text[1]), 2};
  }
}

// Punctuation only: letters are never written so.
Escape Entity(std::string_view text) {
  const size_t end = text.substr(0, 8).find(';');
  if (end == std::string_view::npos || end < 2) return {};
  static constexpr std::array<std::string_view, 6> kNames = {"&quot", "&amp", "&lt", "&gt", "&apos", "&nbsp"};
  const std::string_view name = text.substr(0, end);
  if (name[1] == '#') return {" ", end + 1};
  for (const std::string_view known : kNames) {
    if (name == known) return {known == "&amp" ? "&" : " ", end + 1};
  }
  return {};
}

Reading Unescape(const Reading& reading) {
  Reading read;
  const std::string_view text = reading.bytes;
  for (size_t i = 0; i < text.size();) {
    Escape escape;
    if (text[i] == '\\') escape = Backslashed(text.substr(i));
    if (text[i] == '&') escape = Entity(text.substr(i));
    if (escape.length == 0) escape = {std::string(1, text[i]), 1};
    read.Add(escape.means, reading.from[i].first, reading.from[i + escape.length - 1].second);
    i += escape.length;
  }
  return read;
}

// Letters, digits and whatever is not ASCII; small letters.
Reading Words(const Reading& reading) {
  Reading words;
  for (size_t i = 0; i < reading.bytes.size(); ++i) {
    char byte = reading.bytes[i];
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
    const bool word =
        (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || static_cast<uint8_t>(byte) >= 0x80;
    if (word) words.Add(std::string_view(&byte, 1), reading.from[i].first, reading.from[i].second);
  }
  return words;
}

Reading AsSent(std::string_view text) {
  Reading reading;
  for (size_t i = 0; i < text.size(); ++i) reading.Add(text.substr(i, 1), i, i + 1);
  return reading;
}

}  // namespace

void QuestionText::Add(std::string_view prompt) {
  const std::string words = Words(AsSent(prompt)).bytes;
  for (size_t i = 0; i + kWindow <= words.size(); ++i) windows_.insert(words.substr(i, kWindow));
}

std::vector<bool> QuestionText::Marked(std::string_view text) const {
  std::vector<bool> marked(text.size());
  Reading reading = AsSent(text);
  for (int level = 0; level <= kEscapes; ++level) {
    const Reading words = Words(reading);
    for (size_t i = 0; i + kWindow <= words.bytes.size(); ++i) {
      if (windows_.count(words.bytes.substr(i, kWindow)) == 0) continue;
      for (size_t at = words.from[i].first; at < words.from[i + kWindow - 1].second; ++at) marked[at] = true;
    }
    reading = Unescape(reading);
  }
  return marked;
}

std::string QuestionText::LeaveOut(const std::string& text) const {
  const std::vector<bool> marked = Marked(text);
  std::string kept;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!marked[i]) kept += text[i];
    if (marked[i] && (i == 0 || !marked[i - 1])) kept += "(question left out)";
  }
  return kept;
}

}  // namespace assay::evals
