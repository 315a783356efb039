#pragma once

#include <span>
#include <string_view>

namespace assay::reports {

// The words of a report, for those who meet them first there. `meaning` goes on where `word` ends.
struct Definition {
  std::string_view word, meaning;
};
std::span<const Definition> Definitions();

}  // namespace assay::reports
