#pragma once

#include <string>

#include "reports/page.h"

// The parts of a page, in its order. Each is empty when it has nothing to say.
namespace assay::reports {

std::string HeadSection(const Page& page);       // the verdict and its counts
std::string SummarySection(const Page& page);    // what happened, what to do, what is affected
std::string ProblemSection(const Page& page);    // failed, invalid, not measured
std::string UndecidedSection(const Page& page);  // inconclusive, with what would decide
std::string AccuracySection(const Page& page);   // by variant
std::string ServingSection(const Page& page);    // by shape
std::string ImprovementSection(const Page& page);
std::string NotesSection(const Page& page);
std::string EnvironmentSection(const Page& page);
std::string ServerLogSection(const Page& page);
std::string ReproduceSection(const Page& page);
std::string ValiditySection(const Page& page);
std::string DefinitionsSection(const Page& page);

}  // namespace assay::reports
