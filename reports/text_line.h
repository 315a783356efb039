#pragma once

#include <string>
#include <string_view>

namespace assay::reports {

// Printable, with spaces for line ends and tabs.
std::string OneLine(std::string_view text);

// At most `limit` bytes, cut between characters, "..." behind what was cut.
std::string AtMost(std::string text, size_t limit);

}  // namespace assay::reports
