#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::engine {

// Cuts text at the first stop string, whichever pieces it arrives in: what could still become a stop string
// is held back. The stop string that ends first wins; it is part of the text only if `keep_stop`.
class StopFilter {
 public:
  explicit StopFilter(std::vector<std::string> stops, bool keep_stop = false);

  // The text that is certain by now.
  std::string Add(std::string_view text);
  // Lets text through unread. Only before the first Add.
  std::string Pass(std::string text) const { return text; }
  // What was held back, when the text ended without a stop string.
  std::string Finish();
  bool Stopped() const { return stopped_; }
  // The stop string that has come, or "".
  const std::string& StoppedBy() const { return stopped_by_; }

 private:
  size_t PossibleStart() const;

  std::vector<std::string> stops_;
  bool keep_stop_;
  std::string held_;
  bool stopped_ = false;
  std::string stopped_by_;
};

}  // namespace assay::engine
