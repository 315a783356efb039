#include "reports/history_html.h"

#include <algorithm>

#include "reports/figure.h"
#include "reports/html_document.h"
#include "reports/numbers.h"
#include "reports/trend.h"

namespace assay::reports {
namespace {

// The newest value of each trend and what happened to it, for readers without plots.
std::string TrendTable(const Page& page, const std::vector<const Trend*>& trends) {
  const Say& say = page.say;
  std::string rows;
  for (const Trend* trend : trends) {
    if (trend->points.empty()) continue;
    const auto changes =
        std::count_if(trend->events.begin(), trend->events.end(),
                      [](const Trend::Event& event) { return event.kind != Trend::EventKind::kReset; });
    rows += page.markup.Row({page.markup.Code(trend->metric), page.markup.Text(trend->machine),
                             fmt::format("{}", trend->points.size()),
                             Quantity(trend->points.front().value, trend->unit),
                             Quantity(trend->points.back().value, trend->unit), fmt::format("{}", changes),
                             page.markup.Text(trend->points.back().created)});
  }
  return page.markup.Table({say("metric"), say("machine"), say("runs"), say("first"), say("newest"),
                            say("changes"), say("newest run")},
                           rows);
}

std::string CellSection(const Page& page, const std::string& cell, const std::vector<const Trend*>& trends) {
  std::string figures;
  for (const Trend* trend : trends) figures += TrendFigure(page, *trend);
  return page.markup.Section(page.markup.Text(cell),
                             "<div class=\"plots\">\n" + figures + "</div>\n" + TrendTable(page, trends));
}

}  // namespace

std::string RenderHistoryHtml(const std::string& title, const std::vector<Trend>& trends, Language language) {
  const record::RunRecord record;
  const record::Verdict verdict;
  ReportInput input{record, verdict};
  input.language = language;
  const Page page(input, HtmlMarkup(), Cut::kNothing);
  std::vector<std::string> cells;
  for (const Trend& trend : trends) {
    if (std::find(cells.begin(), cells.end(), trend.cell) == cells.end()) cells.push_back(trend.cell);
  }
  std::string body = "<h1>" + page.markup.Text(title) + "</h1>\n" +
                     page.markup.Paragraph(page.say("Trends: {}. Cells: {}.", trends.size(), cells.size()));
  for (const std::string& cell : cells) {
    std::vector<const Trend*> of_cell;
    for (const Trend& trend : trends) {
      if (trend.cell == cell) of_cell.push_back(&trend);
    }
    body += CellSection(page, cell, of_cell);
  }
  return HtmlDocument(language, title, body);
}

}  // namespace assay::reports
