#pragma once

#include <cstddef>
#include <string_view>

namespace assay::reports {

// Columns that UTF-8 text takes in a terminal: Chinese characters and their punctuation take two.
size_t DisplayWidth(std::string_view text);

}  // namespace assay::reports
