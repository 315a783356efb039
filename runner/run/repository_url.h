#pragma once

#include <string>
#include <string_view>

// Where a change comes from, as git names it: https://host/path.git, git@host:path, ssh://git@host/path, a
// folder.
namespace assay::runner {

// The address without what lets somebody in: user and password become "(hidden)". A user of ssh is no secret
// and stays, as everything does that has none: stored runs are found by the same bytes.
std::string WithoutCredentials(std::string_view url);

// The same text for all addresses of one repository: "host/path", without scheme, user, port and ".git".
std::string RepositoryPlace(std::string_view url);

}  // namespace assay::runner
