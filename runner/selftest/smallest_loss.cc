#include "runner/selftest/smallest_loss.h"

#include "record/distributions.h"

namespace assay::runner {
namespace {

bool IsRed(record::Outcome outcome) {
  return outcome == record::Outcome::kFail || outcome == record::Outcome::kInvalid;
}

// How many right answers must be lost.
std::optional<int64_t> FewestLost(record::RunRecord run, const gate::CellPolicy& policy) {
  int64_t lost = 0;
  for (record::QuestionSample& sample : run.cells.front().accuracy->samples) {
    if (!sample.correct) continue;
    sample.correct = false;
    ++lost;
    if (IsRed(gate::Judge(run, {policy}).outcome)) return lost;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> SmallestLossNoticed(const record::RunRecord& clean, const gate::CellPolicy& policy) {
  constexpr double kPower = 0.8;
  const auto fewest = FewestLost(clean, policy);
  if (!fewest) return std::nullopt;
  const auto n = static_cast<int64_t>(clean.cells.front().accuracy->samples.size());
  double low = 0, high = 1;
  for (int i = 0; i < 50; ++i) {
    const double loss = (low + high) / 2;
    const double power = 1 - record::BinomialCdf(*fewest - 1, n, loss);
    (power < kPower ? low : high) = loss;
  }
  return high;
}

}  // namespace assay::runner
