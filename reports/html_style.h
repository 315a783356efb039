#pragma once

#include <string_view>

namespace assay::reports {

// The style sheet of HTML pages: one column, wide tables scroll in their own box, colours by variables that
// the reader's light or dark setting exchanges.
extern const std::string_view kHtmlStyle;

}  // namespace assay::reports
