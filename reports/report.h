#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/run_record.h"
#include "record/verdict.h"
#include "reports/say.h"

namespace assay::reports {

// Where the run can be looked up. Empty where nobody said; only http and https become links.
struct Links {
  std::string job;        // the CI job that measured
  std::string artifacts;  // the page that lists its files
  std::string folder;     // the run's folder, as the job uploads it
};

// How a metric of a cell went over the runs of a branch on one machine.
struct Trend {
  struct Point {
    std::string created, commit;
    double value = 0;
  };
  enum class EventKind { kWorse, kBetter, kReset };
  // From this point on it is another; across a reset nothing is compared.
  struct Event {
    size_t index = 0;
    EventKind kind = EventKind::kReset;
    std::string text;
  };
  std::string cell, metric, unit, machine;
  std::vector<Point> points;  // oldest first
  std::vector<Event> events;
};

// What a report is made from. Renderers compute nothing and open nothing: all they need is here.
struct ReportInput {
  const record::RunRecord& record;
  const record::Verdict& verdict;
  // The earlier cells that each cell was compared with, newest first, by its key. They outlive the input.
  std::map<std::string, std::vector<const record::CellRecord*>> baseline = {};
  std::string base_name = "baseline", head_name = "this run";  // of the two arms
  Links links = {};
  Language language = Language::kEnglish;
  std::vector<Trend> trends = {};  // of any cells; those of the run's are drawn
};

struct Report {
  std::string_view format;       // the name on the command line
  std::string_view short_name;   // another name, or ""
  std::string_view file_name;    // in the run's folder
  std::string_view description;  // for --help
  std::string (*render)(const ReportInput&);
};

// Every format there is; `assay report --help`, `--format` and the run's output walk it.
const std::vector<Report>& ReportTable();

// The row of a format, by its name or a short form of it ("md"); null for none.
const Report* FindReport(std::string_view format);

// The few lines for a terminal after a run.
std::string RenderTerminal(const ReportInput& input, bool colour);

}  // namespace assay::reports
