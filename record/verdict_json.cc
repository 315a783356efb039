#include <algorithm>

#include "record/json_text.h"
#include "record/struct_json.h"
#include "record/verdict.h"

namespace assay::record {

const char* Name(Outcome outcome) {
  return NameOf(outcome);
}

bool NeedsAttention(const Verdict& verdict) {
  return verdict.outcome == Outcome::kPass &&
         std::any_of(verdict.notes.begin(), verdict.notes.end(),
                     [](const VerdictNote& note) { return note.kind == "workaround"; });
}

bool ComparesAnswers(const Check& check) {
  return check.rule == "paired" || check.rule == "unpaired";
}

nlohmann::json ToJson(const Verdict& verdict) {
  return WriteValue(verdict, kFullPrecision);
}

Result<Verdict> ParseVerdict(std::string_view text, std::string_view source) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonText(text, source));
  RETURN_IF_ERROR(CheckSchema(json, kVerdictSchema, source));
  Verdict verdict;
  if (Status status = ReadValue(json, JsonPath{}, verdict); !status) {
    return FailWithin(source, std::move(status).error());
  }
  return verdict;
}

}  // namespace assay::record
