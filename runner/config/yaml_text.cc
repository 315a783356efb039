#include "runner/config/yaml_text.h"

#include "base/text.h"

namespace assay::runner {
namespace {

constexpr size_t kMaxBytes = 1 << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

void CheckLine(std::string_view line, const Mark& start, Mistakes& mistakes) {
  const auto at = [&](size_t offset) { return Mark{start.file, start.line, static_cast<int>(offset) + 1}; };
  if (const size_t nul = line.find('\0'); nul != std::string_view::npos) {
    mistakes.Add(at(nul), "", "holds a NUL byte; save the file as UTF-8 text");
  } else if (!IsValidUtf8(line)) {
    mistakes.Add(at(0), "", "is not valid UTF-8; save the file as UTF-8 text");
  }
  const size_t first = line.find_first_not_of(" \t");
  const size_t tab = line.substr(0, first).find('\t');
  const bool blank_or_comment = first == std::string_view::npos || line[first] == '#';
  if (tab != std::string_view::npos && !blank_or_comment) {
    mistakes.Add(at(tab), "", "a tab in the indentation; YAML wants spaces");
  }
}

}  // namespace

std::string CleanYamlText(std::string_view bytes, const std::shared_ptr<const std::string>& file,
                          Mistakes& mistakes) {
  if (bytes.size() > kMaxBytes) {
    mistakes.Add({file, 0, 0}, "",
                 fmt::format("is {} bytes, more than any config; is it the right file?", bytes.size()));
    return "";
  }
  if (StartsWith(bytes, kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  std::string text;
  int number = 0;
  for (const std::string& line : SplitLines(bytes)) {
    CheckLine(line, {file, ++number, 1}, mistakes);
    text += line + "\n";
  }
  return text;
}

bool QuoteCloses(std::string_view text, int position) {
  if (position < 0 || static_cast<size_t>(position) >= text.size()) return true;
  const char quote = text[static_cast<size_t>(position)];
  if (quote != '"' && quote != '\'') return true;  // a block scalar
  for (size_t i = static_cast<size_t>(position) + 1; i < text.size(); ++i) {
    if (text[i] == quote) {
      if (quote == '"' || i + 1 >= text.size() || text[i + 1] != '\'') return true;
      ++i;  // '' inside single quotes
    } else if (quote == '"' && text[i] == '\\') {
      ++i;
    }
  }
  return false;
}

}  // namespace assay::runner
