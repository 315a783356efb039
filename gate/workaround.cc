#include "gate/workaround.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "gate/version.h"

namespace assay::gate {
namespace {

// Python's packages are one whatever their case and separators (PEP 503).
std::string Normalised(const std::string& name) {
  return ReplaceAll(ReplaceAll(ToLower(name), "_", "-"), ".", "-");
}

// "" where the machine and the engine do not say.
std::string VersionOf(const std::string& name, const record::Fingerprint& fingerprint) {
  const std::string wanted = Normalised(name);
  for (const auto& [library, version] : fingerprint.versions) {
    if (Normalised(library) == wanted) return version;
  }
  if (wanted == "driver") return fingerprint.driver;
  if (wanted == "kernel") return fingerprint.kernel;
  return "";
}

}  // namespace

std::vector<record::VerdictNote> JudgeWorkarounds(const record::CellRecord& cell,
                                                  const std::vector<Workaround>& workarounds) {
  std::vector<record::VerdictNote> notes;
  for (const Workaround& workaround : workarounds) {
    VersionCondition condition;
    if (!ParseVersionCondition(workaround.until, condition)) continue;  // the config's check has refused it
    const std::string version = VersionOf(condition.name, cell.fingerprint);
    if (version.empty()) {
      notes.push_back(
          {cell.key, "workaround_stays",
           fmt::format("workaround {} (until {}): the version of {} is unknown here, so nobody is "
                       "told when it can go",
                       workaround.id, workaround.until, condition.name)});
    } else if (Holds(condition, version)) {
      notes.push_back({cell.key, "workaround",
                       fmt::format("workaround {} can go: {} is {}, and it was there until {}", workaround.id,
                                   condition.name, version, workaround.until)});
    }
  }
  return notes;
}

}  // namespace assay::gate
