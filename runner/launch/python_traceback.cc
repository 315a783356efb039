#include "runner/launch/python_traceback.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace assay::runner {
namespace {

bool IsNameCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// "(EngineCore pid=7) ERROR [core.py:12] torch.FooError: text" gives "torch.FooError: text".
std::optional<std::string_view> ExceptionIn(std::string_view line) {
  for (const std::string_view ending : {"Error", "Exception", "Interrupt", "SystemExit"}) {
    const size_t at = line.find(ending);
    if (at == std::string_view::npos) continue;
    const size_t end = at + ending.size();
    if (end != line.size() && line[end] != ':') continue;
    size_t begin = at;
    while (begin > 0 && IsNameCharacter(line[begin - 1])) --begin;
    if (begin == 0 || line[begin - 1] == ' ') return Trim(line.substr(begin));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> LastPythonException(const std::vector<std::string>& lines) {
  std::optional<std::string> found;
  bool in_traceback = false;
  for (const std::string& line : lines) {
    if (line.find("Traceback (most recent call last)") != std::string::npos) {
      in_traceback = true;
      continue;
    }
    if (!in_traceback) continue;
    const auto exception = ExceptionIn(line);
    if (!exception) continue;
    in_traceback = false;
    if (!found || exception->find("root cause") == std::string_view::npos) found = std::string(*exception);
  }
  return found;
}

}  // namespace assay::runner
