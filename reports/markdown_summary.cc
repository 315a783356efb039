#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "reports/check_names.h"
#include "reports/markdown_place.h"
#include "reports/markdown_sections.h"
#include "reports/markdown_text.h"

namespace assay::reports {
namespace {

using record::CellRecord;
using record::Check;
using record::Outcome;
using record::RunRecord;
using record::Verdict;

std::string Machine(const record::Fingerprint& fingerprint) {
  if (fingerprint.device.empty() && fingerprint.devices == 0) return "a machine that is not stated";
  return fmt::format("{} ({} x {})", fingerprint.hardware, fingerprint.devices,
                     fingerprint.device.empty() ? "unknown device" : fingerprint.device);
}

std::string CellLine(const CellRecord& cell) {
  return fmt::format("{} on {}{}\n", Code(cell.key), Inline(Machine(cell.fingerprint)),
                     cell.fingerprint.engine.empty() ? "" : ", " + Inline(cell.fingerprint.engine));
}

std::string RunLine(const RunRecord& record) {
  std::string line = fmt::format("Run {} of {}", Code(record.id), Inline(record.created));
  if (!record.commit.empty()) line += fmt::format(", commit {}", Code(record.commit.substr(0, 12)));
  if (!record.branch.empty()) line += fmt::format(" on {}", Code(record.branch));
  return line + fmt::format(", assay {} ({})\n", Inline(record.assay_version), Inline(record.assay_commit));
}

std::string Bullet(const RunRecord& record, const Check& check) {
  std::string text = fmt::format("- {}**{}** {}: {}\n", CellPrefix(record, check.cell),
                                 record::Name(check.outcome), Code(CheckName(check)), Inline(check.reason));
  for (const std::string& detail : check.details) text += "  - " + Inline(detail) + "\n";
  return text;
}

std::string Bullets(const RunRecord& record, const Verdict& verdict, bool (*wanted)(const Check&)) {
  std::string text;
  for (const Check& check : verdict.checks) {
    if (check.primary && wanted(check)) text += Bullet(record, check);
  }
  return text;
}

std::string Titled(std::string_view title, const std::string& body) {
  return body.empty() ? "" : fmt::format("### {}\n\n{}\n", title, body);
}

}  // namespace

std::string HeadSection(const RunRecord& record, const Verdict& verdict) {
  std::string text = fmt::format("## {} {}\n\n", Symbol(verdict.outcome), Inline(verdict.headline));
  if (verdict.exit_code != 130)
    text += fmt::format("{} Exit code {}.\n\n", Meaning(verdict.outcome), verdict.exit_code);
  for (const CellRecord& cell : record.cells) text += "- " + CellLine(cell);
  return text + "\n" + RunLine(record) + "\n";
}

std::string ProblemSection(const RunRecord& record, const Verdict& verdict) {
  return Titled("What is wrong", Bullets(record, verdict, [](const Check& check) {
                  return check.outcome == Outcome::kFail || check.outcome == Outcome::kInvalid ||
                         check.outcome == Outcome::kInfrastructure;
                }));
}

std::string UndecidedSection(const RunRecord& record, const Verdict& verdict) {
  return Titled("What could not be decided", Bullets(record, verdict, [](const Check& check) {
                  return check.outcome == Outcome::kInconclusive;
                }));
}

std::string ImprovementSection(const RunRecord& record, const Verdict& verdict) {
  return Titled("Improvements", Bullets(record, verdict, [](const Check& check) { return check.improved; }));
}

std::string NotesSection(const RunRecord& record, const Verdict& verdict) {
  std::string text;
  for (const record::VerdictNote& note : verdict.notes) {
    text += fmt::format("- {}{}\n", CellPrefix(record, note.cell), Inline(note.text));
  }
  return Titled("Notes", text);
}

std::string ServerLogSection(const RunRecord& record) {
  std::string text;
  for (const CellRecord& cell : record.cells) {
    if (!cell.server.failure) continue;
    const record::ServerFailure& failure = *cell.server.failure;
    if (failure.log_tail.empty()) {
      text += fmt::format("The server of {} left no log.\n\n", Code(cell.key));
      continue;
    }
    text += Folded(
        fmt::format("last {} lines of the server log of {}", failure.log_tail.size(), Inline(cell.key)),
        CodeBlock(failure.log_tail, "text") + "\nWhole log: " + Code(cell.server.log_file) +
            "\n\nCommand: " + Code(ShellJoin(cell.server.argv)) + "\n");
  }
  return text;
}

std::string ReproduceSection(const RunRecord& record) {
  if (record.command.empty()) return "";
  return Titled("Reproduce", CodeBlock({ShellJoin(record.command)}, "sh"));
}

}  // namespace assay::reports
