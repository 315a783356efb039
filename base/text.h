#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

std::string_view Trim(std::string_view text);
std::vector<std::string> Split(std::string_view text, char separator);
// Lines without their ends (LF or CRLF); a final line without an end counts, a final empty one does not.
std::vector<std::string> SplitLines(std::string_view text);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string ToLower(std::string_view text);
bool StartsWith(std::string_view text, std::string_view prefix);
std::string ReplaceAll(std::string text, std::string_view from, std::string_view to);

// "did you mean": the candidate at the smallest edit distance, if that is close enough to be a typing
// mistake.
std::optional<std::string> NearestWord(std::string_view word, const std::vector<std::string>& candidates);

// The bytes with invalid UTF-8 replaced by U+FFFD and control characters other than tab and LF dropped (ANSI
// colour sequences whole): safe to put in JSON, XML or a report.
std::string Printable(std::string_view bytes);

bool IsValidUtf8(std::string_view bytes);

// One argument for a POSIX shell, quoted only where needed.
std::string ShellQuote(std::string_view argument);
std::string ShellJoin(const std::vector<std::string>& argv);

}  // namespace assay
