#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"
#include "reports/report.h"

namespace assay::runner {

// How a report is printed: --format and --lang.
struct ReportFlags {
  std::string format = "terminal";
  reports::Language language = reports::Language::kEnglish;

  void Add(CLI::App& app);
};

// --lang alone, for commands that write every format.
void AddLanguageFlag(CLI::App& app, reports::Language& language);

// On stdout. An unknown format is answered with those there are.
Status PrintReport(const reports::ReportInput& input, const std::string& format);

}  // namespace assay::runner
