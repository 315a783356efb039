#include "reports/junit.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "reports/markup_text.h"
#include "reports/text_line.h"
#include "reports/view.h"

namespace assay::reports {
namespace {

using record::CellRecord;
using record::Check;
using record::Outcome;

struct Counts {
  int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
  Counts& operator+=(const Counts& other) {
    tests += other.tests;
    failures += other.failures;
    errors += other.errors;
    skipped += other.skipped;
    return *this;
  }
};

struct Suite {
  std::string text;
  Counts counts;
};

// "assay.cpu.tiny-moe.smoke": readers make a tree of the dots.
std::string ClassName(const std::string& cell) {
  return cell.empty() ? "assay.run" : "assay." + cell;
}

// Without values, and unlike every other of its cell: GitLab keeps only the first of two equal ones.
std::string CaseName(const Check& check) {
  const std::string name = check.group + "." + check.metric;
  return check.rule == "performance" || check.rule == "validity" || check.rule == "not_judged"
             ? name
             : name + "." + check.rule;
}

// GitLab shows the text and not the message, so the text says all.
std::string WhyText(const Check& check) {
  std::string text = check.reason;
  for (const std::string& detail : check.details) text += "\n" + AtMost(detail, 2000);
  return Escaped(text);
}

std::string Result(const Check& check, Counts& counts) {
  const auto element = [&](const char* tag, const char* type) {
    return fmt::format("<{} message=\"{}\" type=\"{}\">{}</{}>", tag, Escaped(check.reason), type,
                       WhyText(check), tag);
  };
  const auto skipped = [&] {
    ++counts.skipped;
    return fmt::format("<skipped message=\"{}\"/>", Escaped(check.reason));
  };
  if (!check.primary) return check.outcome == Outcome::kPass ? "" : skipped();
  switch (check.outcome) {
    case Outcome::kFail:
      ++counts.failures;
      return element("failure", "regression");
    case Outcome::kInvalid:
      ++counts.errors;
      return element("error", "invalid");
    case Outcome::kInfrastructure:
      ++counts.errors;
      return element("error", "infrastructure");
    case Outcome::kInconclusive:
      return skipped();
    case Outcome::kPass:
      return "";
  }
  return "";
}

std::string TestCase(const Check& check, const std::string& name, Counts& counts) {
  ++counts.tests;
  const std::string head = fmt::format(R"(    <testcase classname="{}" name="{}" time="0")",
                                       Escaped(ClassName(check.cell)), Escaped(name));
  const std::string result = Result(check, counts);
  if (result.empty()) return head + "/>\n";
  return head + ">\n      " + result + "\n    </testcase>\n";
}

std::string Property(std::string_view name, const std::string& value) {
  return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, Escaped(value));
}

std::string Properties(const ReportInput& input, const CellRecord* cell) {
  std::string text = Property("run", input.record.id) + Property("commit", input.record.commit);
  if (cell != nullptr) {
    text += Property("hardware", cell->fingerprint.hardware) + Property("device", cell->fingerprint.device) +
            Property("engine", cell->fingerprint.engine) + Property("backend", cell->server.moe_backend);
    for (const record::Metric& metric : AllMetrics(*cell)) {
      if (metric.value) text += Property(Escaped(metric.name), fmt::format("{}", *metric.value));
    }
  }
  return "    <properties>\n" + text + "    </properties>\n";
}

double Duration(const CellRecord& cell) {
  double seconds = cell.server.ready_s + (cell.accuracy ? cell.accuracy->duration_s : 0);
  for (const record::ServingRecord& serving : cell.serving) seconds += serving.duration_s;
  return seconds;
}

// The time without its zone, as the schema has it.
std::string Timestamp(const std::string& created) {
  return created.substr(0, std::string("2026-11-30T15:54:48").size());
}

Suite CellSuite(const View& view, const CellRecord* cell, const std::string& key) {
  Suite suite;
  std::map<std::string, int> seen;
  std::string cases;
  for (const Check* check : view.ChecksOf(key)) {
    std::string name = CaseName(*check);
    if (const int earlier = seen[name]++; earlier > 0) name += fmt::format(".{}", earlier + 1);
    cases += TestCase(*check, name, suite.counts);
  }
  const Counts& counts = suite.counts;
  const std::string file = cell != nullptr && !cell->config_file.empty()
                               ? fmt::format(" file=\"{}\"", Escaped(cell->config_file))
                               : "";
  suite.text =
      fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
                  Escaped(key.empty() ? "run" : key), counts.tests, counts.failures, counts.errors,
                  counts.skipped) +
      fmt::format(" time=\"{:.3f}\" timestamp=\"{}\" hostname=\"{}\"{}>\n",
                  cell != nullptr ? Duration(*cell) : 0, Escaped(Timestamp(view.input.record.created)),
                  Escaped(cell != nullptr ? cell->fingerprint.host : ""), file) +
      Properties(view.input, cell) + cases + "  </testsuite>\n";
  return suite;
}

}  // namespace

std::string RenderJunit(const ReportInput& input) {
  const View view(input);
  std::string suites;
  Counts counts;
  double seconds = 0;
  const auto add = [&](const CellRecord* cell, const std::string& key) {
    const Suite suite = CellSuite(view, cell, key);
    suites += suite.text;
    counts += suite.counts;
  };
  if (!view.ChecksOf("").empty()) add(nullptr, "");
  for (const CellRecord& cell : input.record.cells) {
    add(&cell, cell.key);
    seconds += Duration(cell);
  }
  // Without skipped: the schema of Jenkins' xUnit plugin has it on suites only.
  return fmt::format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
             "<testsuites name=\"assay\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n",
             counts.tests, counts.failures, counts.errors, seconds) +
         suites + "</testsuites>\n";
}

}  // namespace assay::reports
