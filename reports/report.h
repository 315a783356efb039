#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/run_record.h"
#include "record/verdict.h"

namespace assay::reports {

struct Report {
  std::string_view format;       // the name on the command line
  std::string_view file_name;    // in the run's folder
  std::string_view description;  // for --help
  std::string (*render)(const record::RunRecord&, const record::Verdict&);
};

// Every format there is; --help, `assay report --format` and the run's output walk it. Renderers compute
// nothing.
const std::vector<Report>& ReportTable();

// The few lines for a terminal after a run.
std::string RenderTerminal(const record::RunRecord& record, const record::Verdict& verdict, bool colour);

}  // namespace assay::reports
