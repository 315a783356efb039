#include "reports/html.h"

#include "reports/html_document.h"
#include "reports/html_plots.h"
#include "reports/sections.h"

namespace assay::reports {
namespace {

std::string Body(const Page& page) {
  return HeadSection(page) + SummarySection(page) + ProblemSection(page) + ServerLogSection(page) +
         UndecidedSection(page) + AccuracySection(page) + ServingSection(page) + PlotSection(page) +
         ImprovementSection(page) + NotesSection(page) + EnvironmentSection(page) + ReproduceSection(page) +
         ValiditySection(page) + DefinitionsSection(page);
}

}  // namespace

std::string RenderHtml(const ReportInput& input) {
  const Page page(input, HtmlMarkup(), Cut::kNothing);
  return HtmlDocument(input.language, page.say.Verdict(input.verdict.headline), Body(page));
}

}  // namespace assay::reports
