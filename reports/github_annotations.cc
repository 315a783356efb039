#include "reports/github_annotations.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "reports/check_names.h"
#include "reports/view.h"

namespace assay::reports {
namespace {

using record::Check;
using record::Outcome;

constexpr size_t kShown = 10;

// A command is one line; % and line ends are its only escapes.
std::string Data(std::string_view text) {
  return ReplaceAll(ReplaceAll(ReplaceAll(Printable(text), "%", "%25"), "\r", "%0D"), "\n", "%0A");
}

std::string Property(std::string_view text) {
  return ReplaceAll(ReplaceAll(Data(text), ":", "%3A"), ",", "%2C");
}

std::string Command(const View& view, std::string_view level, const Check& check) {
  std::string file;
  for (const record::CellRecord* cell : view.cells) {
    if (cell->key == check.cell && !cell->config_file.empty())
      file = "file=" + Property(cell->config_file) + ",";
  }
  const std::string title = fmt::format("{} {}", record::Name(check.outcome), CheckName(view.say, check));
  const std::string where = check.cell.empty() ? "" : check.cell + ": ";
  return fmt::format("::{} {}title={}::{}\n", level, file, Property(title),
                     Data(where + view.say.Verdict(check.reason)));
}

void Collect(const View& view, Outcome outcome, std::vector<const Check*>& checks) {
  for (const Check& check : view.input.verdict.checks) {
    if (check.primary && check.outcome == outcome) checks.push_back(&check);
  }
}

std::string Commands(const View& view, std::string_view level, const std::vector<const Check*>& checks) {
  std::string text;
  const size_t shown = checks.size() > kShown ? kShown - 1 : checks.size();
  for (size_t i = 0; i < shown; ++i) text += Command(view, level, *checks[i]);
  if (shown < checks.size())
    text += fmt::format("::{} title=assay::{}\n", level,
                        Data(view.say("{} more are in the step's summary", checks.size() - shown)));
  return text;
}

}  // namespace

std::string RenderGithubAnnotations(const ReportInput& input) {
  const View view(input);
  std::vector<const Check*> errors, warnings;
  for (Outcome outcome : {Outcome::kFail, Outcome::kInvalid, Outcome::kInfrastructure})
    Collect(view, outcome, errors);
  Collect(view, Outcome::kInconclusive, warnings);
  return Commands(view, "error", errors) + Commands(view, "warning", warnings) +
         fmt::format("::notice title=assay::{}\n", Data(view.say.Verdict(input.verdict.headline)));
}

}  // namespace assay::reports
