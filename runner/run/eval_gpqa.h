#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "evals/gpqa/gpqa.h"
#include "gate/policy.h"

namespace assay::runner {

struct EvalOptions {
  std::string base_url;     // with or without /v1 at its end
  evals::GpqaOptions gpqa;  // model "": the only one that the server lists
  std::optional<gate::ThresholdPolicy> threshold;
  gate::AccuracyPolicy accuracy;
  std::string baseline;  // a record's file; "" compares with nothing
  bool strict = false;
  Path out, resume;
  std::vector<std::string> command;  // how assay was called, for the record
};

// The accuracy eval against a server that runs already and may be anybody's. Writes the same folder as a run,
// and returns its exit code; an Error means that nothing was judged.
Result<int> EvalGpqa(EvalOptions options);

}  // namespace assay::runner
