#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::evals {

// The bytes of the member with exactly this name, or nothing when the archive has none. Encrypted members
// (ZipCrypto or AES) are opened with `password`. The member is read to its end, where its checksum stands: a
// broken archive, a wrong password and a member above `max_bytes` are errors. `source` names the archive.
Result<std::optional<std::string>> ReadZipMember(std::string_view archive, std::string_view source,
                                                 const std::string& member, const std::string& password,
                                                 size_t max_bytes);

}  // namespace assay::evals
