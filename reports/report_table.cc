#include "reports/json.h"
#include "reports/markdown.h"
#include "reports/report.h"

namespace assay::reports {

const std::vector<Report>& ReportTable() {
  static const std::vector<Report> table = {
      {"markdown", "report.md", "for the pull request", RenderMarkdown},
      {"json", "verdict.json", "verdict and run, without samples", RenderJson},
  };
  return table;
}

}  // namespace assay::reports
