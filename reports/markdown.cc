#include "reports/markdown.h"

#include "reports/markdown_sections.h"

namespace assay::reports {

std::string RenderMarkdown(const record::RunRecord& record, const record::Verdict& verdict) {
  return HeadSection(record, verdict) + ProblemSection(record, verdict) + ServerLogSection(record) +
         UndecidedSection(record, verdict) + AccuracySection(record, verdict) +
         ServingSection(record, verdict) + ImprovementSection(record, verdict) +
         NotesSection(record, verdict) + EnvironmentSection(verdict) + ReproduceSection(record) +
         ValiditySection(record, verdict) + DefinitionsSection();
}

}  // namespace assay::reports
