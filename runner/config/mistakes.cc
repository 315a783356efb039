#include "runner/config/mistakes.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace assay::runner {

void Mistakes::Add(const Mark& mark, std::string_view path, std::string what) {
  list_.push_back({mark, path.empty() ? std::move(what) : fmt::format("{}: {}", path, what)});
}

std::string Mistakes::Text() const {
  std::vector<Mistake> sorted = list_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Mistake& a, const Mistake& b) {
    return std::tie(*a.mark.file, a.mark.line, a.mark.column) <
           std::tie(*b.mark.file, b.mark.line, b.mark.column);
  });
  std::vector<std::string> lines;
  for (const auto& [mark, text] : sorted) {
    const std::string place = mark.line > 0 ? fmt::format(":{}:{}", mark.line, mark.column) : "";
    lines.push_back(Printable(fmt::format("{}{}: {}", *mark.file, place, text)));
  }
  return Join(lines, "\n");
}

std::string JoinPath(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

}  // namespace assay::runner
