#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// Where between a good and a bad commit a loss came in, when an answer may also be "cannot tell". Only a PASS
// exonerates a commit and those before it, only a FAIL accuses it or one before it.
namespace assay::runner {

enum class StepAnswer {
  kPass,
  kFail,
  kInconclusive,  // asked again with twice the pairs, then left open: it never exonerates
  kBroken,        // does not build or start: nothing can be said of it
};

struct BisectStep {
  size_t commit = 0;  // 0 is the first after the good one
  int pairs = 0;
};

class Bisection {
 public:
  // `commits` after the good one, the bad one last. `widenings`: how often one commit is asked again.
  Bisection(size_t commits, int pairs, int widenings);

  // The bad commit first, since without its FAIL there is nothing to look for. nullopt: nothing more to ask.
  std::optional<BisectStep> Next() const;
  // The answer to what Next gave.
  void Report(StepAnswer answer);

  bool Confirmed() const { return confirmed_; }  // the bad commit failed
  // Those of which one brought the loss in, oldest first; one when it is found. Empty unless confirmed.
  std::vector<size_t> Suspects() const;

 private:
  size_t Nearest() const;

  size_t commits_;
  int first_pairs_, widenings_;
  bool confirmed_ = false, ended_ = false;
  size_t first_open_ = 0;  // all before it are exonerated
  size_t accused_;         // it or one before it
  std::vector<bool> left_open_;
  int asked_again_ = 0;
};

}  // namespace assay::runner
