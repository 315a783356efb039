#include "reports/markdown_text.h"

#include <algorithm>

#include "base/text.h"
#include "reports/text_line.h"
#include "reports/web_address.h"

namespace assay::reports {
namespace {

// GitHub looks for mentions, references and links in the rendered text, where escapes are gone; only a
// character between the parts stops it.
constexpr char kZeroWidthSpace[] = "\u200B";

std::string StopLinks(std::string text) {
  const std::string stop = kZeroWidthSpace;
  text = ReplaceAll(std::move(text), "@", "@" + stop);
  text = ReplaceAll(std::move(text), "#", "#" + stop);
  text = ReplaceAll(std::move(text), "://", ":" + stop + "//");
  for (const std::string_view word : {"www.", "gh-"}) {
    const std::string lower = ToLower(text);
    std::string stopped;
    size_t done = 0;
    for (size_t at; (at = lower.find(word, done)) != std::string::npos;) {
      const size_t last = at + word.size() - 1;
      stopped.append(text, done, last - done).append(stop).append(1, text[last]);
      done = last + 1;
    }
    text = stopped.append(text, done);
  }
  return text;
}

size_t LongestBacktickRun(std::string_view text) {
  size_t longest = 0, run = 0;
  for (char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string Inline(std::string_view text, size_t limit) {
  constexpr std::string_view kEscaped = "\\`*_[]~|$!";
  std::string out;
  for (char c : StopLinks(AtMost(OneLine(text), limit))) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (kEscaped.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string Code(std::string_view text) {
  const std::string line = ReplaceAll(AtMost(OneLine(text), 600), "|", "\\|");
  if (line.empty()) return "";
  const std::string fence(LongestBacktickRun(line) + 1, '`');
  const std::string pad = line.front() == '`' || line.back() == '`' ? " " : "";
  return fence + pad + line + pad + fence;
}

std::string CodeBlock(const std::vector<std::string>& lines, std::string_view language) {
  std::string body;
  for (const std::string& line : lines) body += AtMost(OneLine(line), 2000) + "\n";
  const std::string fence(std::max<size_t>(3, LongestBacktickRun(body) + 1), '`');
  return fence + std::string(language) + "\n" + body + fence + "\n";
}

std::string TableRow(const std::vector<std::string>& cells) {
  return "| " + Join(cells, " | ") + " |\n";
}

std::string Link(std::string_view name, std::string_view url) {
  const std::string address = WebAddress(url);
  return address.empty() ? "" : "[" + Inline(name) + "](" + address + ")";
}

size_t Characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // every byte but those that continue a character
  }));
}

}  // namespace assay::reports
