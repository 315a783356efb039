#pragma once

#include <string>

#include "record/verdict.h"

namespace assay::reports {

// The verdict, with what the run was but without its samples and requests: those stay in record.json.
std::string RenderJson(const record::RunRecord& record, const record::Verdict& verdict);

}  // namespace assay::reports
