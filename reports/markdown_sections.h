#pragma once

#include <string>

#include "record/verdict.h"

// The parts of the pull request's page, in its order. Each is empty when it has nothing to say.
namespace assay::reports {

std::string HeadSection(const record::RunRecord& record, const record::Verdict& verdict);
std::string ProblemSection(const record::RunRecord& record,
                           const record::Verdict& verdict);  // failed, invalid, not measured
std::string UndecidedSection(const record::RunRecord& record,
                             const record::Verdict& verdict);  // inconclusive, with what would decide
std::string AccuracySection(const record::RunRecord& record, const record::Verdict& verdict);
std::string ServingSection(const record::RunRecord& record, const record::Verdict& verdict);
std::string ImprovementSection(const record::RunRecord& record, const record::Verdict& verdict);
std::string NotesSection(const record::RunRecord& record, const record::Verdict& verdict);
std::string EnvironmentSection(const record::Verdict& verdict);
std::string ServerLogSection(const record::RunRecord& record);
std::string ReproduceSection(const record::RunRecord& record);
std::string ValiditySection(const record::RunRecord& record, const record::Verdict& verdict);
std::string DefinitionsSection();

}  // namespace assay::reports
