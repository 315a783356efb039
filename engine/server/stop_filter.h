#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::engine {

// Cuts text at the first stop string, whichever pieces it arrives in: what could still become a stop string
// is held back. The stop string that ends first wins; it is not part of the text.
class StopFilter {
 public:
  explicit StopFilter(std::vector<std::string> stops);

  // The text that is certain by now.
  std::string Add(std::string_view text);
  // What was held back, when the text ended without a stop string.
  std::string Finish();
  bool Stopped() const { return stopped_; }

 private:
  size_t PossibleStart() const;

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace assay::engine
