#include "gate/server.h"

#include <fmt/format.h>

#include "gate/check.h"

namespace assay::gate {
namespace {

std::string WhatWasMeasured(const record::CellRecord& cell) {
  std::string text;
  if (cell.accuracy) {
    text += fmt::format("{} of {} samples of {} were answered before it ended", cell.accuracy->samples.size(),
                        cell.accuracy->questions * cell.accuracy->repeats, cell.accuracy->eval);
  }
  for (const record::ServingRecord& serving : cell.serving) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} of {} requests of {} were made", serving.requests.size(), serving.num_prompts,
                        serving.name);
  }
  return text;
}

}  // namespace

std::optional<record::Check> JudgeServer(const record::CellRecord& cell) {
  if (!cell.server.failure) return std::nullopt;
  const record::ServerFailure& failure = *cell.server.failure;
  record::Check check = MakeCheck(cell, "server", failure.kind, "server");
  check.outcome = failure.infrastructure ? record::Outcome::kInfrastructure : record::Outcome::kFail;
  std::string where = failure.stage.empty() ? "" : "stage " + failure.stage;
  if (!failure.exit.empty()) where += (where.empty() ? "" : ", ") + failure.exit;
  check.reason = where.empty() ? failure.message : fmt::format("{} ({})", failure.message, where);
  check.details.push_back(
      failure.infrastructure
          ? "nothing of this cell was judged; this is worth one retry"
          : "nothing of this cell passes: the server itself failed; do not retry until green");
  if (const std::string measured = WhatWasMeasured(cell); !measured.empty()) {
    check.details.push_back(measured);
  }
  return check;
}

}  // namespace assay::gate
