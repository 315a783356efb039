#pragma once

#include <string>
#include <string_view>

#include "reports/say.h"

namespace assay::reports {

// A whole file around the markup of its body. Nothing of it may run or fetch, whatever a model or a server
// wrote into it.
std::string HtmlDocument(Language language, std::string_view title, const std::string& body);

}  // namespace assay::reports
