#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runner/config/mistakes.h"

namespace assay::runner {

// The bytes of a file made safe for the YAML parser: without byte-order mark, CRLF as LF. What no config can
// hold is a mistake: NUL bytes, invalid UTF-8, tabs in the indentation, more than a mebibyte.
std::string CleanYamlText(std::string_view bytes, const std::shared_ptr<const std::string>& file,
                          Mistakes& mistakes);

// Whether the quote at `position` has its end; yaml-cpp takes the end of the file for one.
bool QuoteCloses(std::string_view text, int position);

}  // namespace assay::runner
