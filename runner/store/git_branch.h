#pragma once

#include <string>

#include "runner/store/baseline_store.h"

// A git branch as the place where several machines exchange runs: an orphan branch whose tree is a folder
// store. What is at both ends is left as it is.
namespace assay::runner {

inline constexpr char kBaselineBranch[] = "assay-baselines";

struct Exchanged {
  int runs = 0, acknowledgements = 0;
};

// What `from` has and `to` lacks. A damaged run is named and passed over.
Result<Exchanged> CopyMissing(BaselineStore& from, BaselineStore& to);

// `remote` is a remote's name in the checkout around the working folder, or an address. Somebody else's push
// between our fetch and our push is fetched and kept; so often until it goes through.
Result<Exchanged> PushToGit(BaselineStore& store, const std::string& remote, const std::string& branch);
Result<Exchanged> PullFromGit(BaselineStore& store, const std::string& remote, const std::string& branch);

}  // namespace assay::runner
