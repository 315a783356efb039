#pragma once

#include <string>

#include "record/run_record.h"
#include "reports/say.h"

namespace assay::reports {

// What load a benchmark put on its server, as plain text; for an imported result what its source says of it.
std::string LoadText(const Say& say, const record::ServingRecord& serving);

}  // namespace assay::reports
