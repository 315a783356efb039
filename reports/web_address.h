#pragma once

#include <string>
#include <string_view>

namespace assay::reports {

// An address that may stand in a link of a page: http, https or Buildkite's artifact, with everything encoded
// that could end it. "" for any other text.
std::string WebAddress(std::string_view text);

}  // namespace assay::reports
