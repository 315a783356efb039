#pragma once

#include <string>
#include <string_view>

namespace assay::reports {

// Text between the tags of XML and HTML, or within a quoted attribute: valid UTF-8, & < > " ' written as
// entities, without the control characters that XML forbids.
std::string Escaped(std::string_view text);

}  // namespace assay::reports
