#pragma once

#include <string>
#include <vector>

#include "record/run_record.h"
#include "reports/say.h"

// What is said of an accuracy eval beside its checks, as plain lines: the pull request's page and the
// terminal show the same.
namespace assay::reports {

std::vector<std::string> AccuracyLines(const Say& say, const record::AccuracyRecord& accuracy);

}  // namespace assay::reports
