#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "evals/progress.h"

namespace assay::runner {

// Shows an eval's progress on stderr while it exists: one line rewritten in place, with the time still to go,
// on a terminal; a plain line every half minute where stderr is a file, as in CI.
class ProgressLine {
 public:
  ProgressLine(std::string what, const evals::Progress& progress);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void Loop();

  std::string what_;
  const evals::Progress& progress_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// "gpqa 120/448  in flight 32  1234 tok/s  8 s to go"
std::string ProgressText(const std::string& what, int64_t done, int64_t planned, int64_t in_flight,
                         int64_t tokens, double elapsed_s);

}  // namespace assay::runner
