#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

// The git program, as far as baselines need it. It never asks for a password.
namespace assay::runner {

// How git is called on a folder: in English, and whatever repository a hook that runs us is of.
std::vector<std::string> GitCommand(const Path& folder, std::vector<std::string> arguments);

// Its output, trimmed; its own words in the error when it fails.
Result<std::string> Git(const Path& folder, std::vector<std::string> arguments);

// The commit where `head` left the branch: with what a merge-base policy compares. The branch is looked for
// here and then at origin. A head that is on the branch itself left it at its parent, or, when the checkout
// differs from its commit (`modified`), at itself.
Result<std::string> MergeBase(const Path& folder, const std::string& head, const std::string& branch,
                              bool modified);

}  // namespace assay::runner
