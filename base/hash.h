#pragma once

#include <string>
#include <string_view>

#include "base/file.h"

namespace assay {

// SHA-256 as 64 lower-case hex digits.
std::string Sha256(std::string_view bytes);
Result<std::string> Sha256File(const Path& path);

}  // namespace assay
