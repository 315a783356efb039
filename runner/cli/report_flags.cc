#include "runner/cli/report_flags.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"

namespace assay::runner {

void AddLanguageFlag(CLI::App& app, reports::Language& language) {
  const std::map<std::string, reports::Language> names = {{"en", reports::Language::kEnglish},
                                                          {"zh", reports::Language::kChinese}};
  app.add_option("--lang", language)->transform(CLI::CheckedTransformer(names));
}

void ReportFlags::Add(CLI::App& app) {
  app.add_option("--format", format);
  AddLanguageFlag(app, language);
}

Status PrintReport(const reports::ReportInput& input, const std::string& format) {
  if (format == "terminal") {
    fmt::print("{}\n", reports::RenderTerminal(input, false));
    return {};
  }
  if (const reports::Report* report = reports::FindReport(format)) {
    fmt::print("{}", report->render(input));
    return {};
  }
  std::vector<std::string> formats = {"terminal"};
  for (const reports::Report& report : reports::ReportTable()) formats.emplace_back(report.format);
  const auto nearest = NearestWord(format, formats);
  return Fail(ErrorKind::kUsage, "--format {}: unknown{}; the formats are {}", format,
              nearest ? "; did you mean " + *nearest + "?" : "", Join(formats, ", "));
}

}  // namespace assay::runner
