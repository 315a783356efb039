#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "reports/say.h"

namespace assay::runner {

struct RunOptions {
  std::vector<Path> configs;
  std::optional<std::string> suite;
  std::optional<std::string> cell;  // the key of the only cell to run; absent: all
  std::string baseline;             // see ChooseBaseline
  Path out;                         // "" makes out/<run id>
  std::string store;                // "" is DefaultStore()
  bool use_store = true;
  std::string branch;    // "" is what git or CI says
  std::string hardware;  // of configs that name none; "" is what this machine has
  bool strict = false;
  bool allow_missing_baseline = false;
  bool dry_run = false;
  std::string stop;                  // of accuracy evals; "" is what the config says
  std::optional<double> stop_error;  // as above
  bool include_text = false;         // keep prompts and answers in the record
  Path resume;                       // the folder of an attempt to go on with; "" starts anew
  reports::Language language = reports::Language::kEnglish;  // of the reports
  std::vector<std::string> command;                          // how assay was called, for the record
};

// The life of one run, as ARCHITECTURE.md tells it. Returns the exit code; an Error means that nothing was
// judged.
Result<int> Run(const RunOptions& options);

}  // namespace assay::runner
