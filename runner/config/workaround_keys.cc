#include "gate/version.h"
#include "runner/config/config_file.h"

namespace assay::runner {
namespace {

void CheckWorkaround(const YamlNode& node, const std::string& path, const gate::Workaround& workaround,
                     Reading& reading) {
  gate::VersionCondition condition;
  if (gate::ParseVersionCondition(workaround.until, condition)) return;
  reading.mistakes.Add(
      node.Find("until")->mark, JoinPath(path, "until"),
      fmt::format("must be a name, one of >= > <= < == != and a version, got {}; for example "
                  "\"aiter>=0.1.20\"",
                  workaround.until));
}

}  // namespace

const Section<gate::Workaround>& WorkaroundSection() {
  using W = gate::Workaround;
  static const Section<W> section = {
      "workarounds[]",
      "One workaround. Its condition is held against what the record's fingerprint knows: `versions`, "
      "`driver`, "
      "`kernel`. Met, it turns a passing report yellow; a version that nobody knows is said to be unknown.",
      {
          {"id", &W::id, Text(), "What it is called.", "moe-fallback", kRequired},
          {"until", &W::until, Text(), "The version from which it is no longer needed.", "\"aiter>=0.1.20\"",
           kRequired},
      },
      CheckWorkaround,
  };
  return section;
}

}  // namespace assay::runner
