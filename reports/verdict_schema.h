#pragma once

#include <string>

namespace assay::reports {

// The JSON Schema of verdict.json, as docs/verdict.schema.json publishes it.
std::string VerdictSchema();

}  // namespace assay::reports
