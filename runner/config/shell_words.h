#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::runner {

// The words of a command line as a POSIX shell would give them to a program, without expanding anything:
// quotes group and go away, a backslash keeps the next character. An error when a quote never closes or the
// text ends in a backslash.
Result<std::vector<std::string>> ShellWords(std::string_view text);

}  // namespace assay::runner
