#include "reports/definitions.h"

namespace assay::reports {
namespace {

constexpr Definition kDefinitions[] = {
    {"FAIL",
     " needs evidence: the score is below its limit, the server broke, or the whole 95 % interval lies "
     "beyond the margin and, for a speed, that holds above the noise of equal code and among all primary "
     "speeds of the run."},
    {"PASS",
     " needs evidence too: a loss of the margin's size is excluded. INCONCLUSIVE is neither. INVALID means "
     "that "
     "the measurement is broken and says nothing."},
    {"Accuracy change",
     " is in points of the score (0.01), paired question by question with the baseline; its interval counts "
     "only "
     "the questions whose answers differ."},
    {"Speed change",
     " compares one run with the mean of earlier runs on the same machine with equal flags and model; its "
     "interval is where one more run like those would fall. Too few earlier runs (three, unless the config "
     "says "
     "otherwise) decide nothing."},
    {"Finds from",
     " is the smallest true loss that this comparison finds four times in five. One above the margin means "
     "that "
     "the noise hides what the gate is asked to see."},
    {"Observations",
     " are shown and decide nothing: metrics that the config does not call primary, and a p99 of fewer than "
     "299 "
     "requests."},
    {"TTFT", " is the time from sending a request to its first chunk."},
    {"TPOT",
     " is the time from the first chunk to the last, divided by one less than the number of output tokens."},
    {"E2EL", " is the time from sending a request to its last chunk."},
};

}  // namespace

std::span<const Definition> Definitions() {
  return kDefinitions;
}

}  // namespace assay::reports
