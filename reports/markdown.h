#pragma once

#include <string>

#include "record/verdict.h"

namespace assay::reports {

// For the pull request: verdict first, then what to act on, then the tables; checks that hold are folded.
std::string RenderMarkdown(const record::RunRecord& record, const record::Verdict& verdict);

}  // namespace assay::reports
