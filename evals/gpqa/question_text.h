#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace assay::evals {

// What servers repeat of questions, in errors and logs, is found and left out: as it was sent, or escaped
// once or twice as JSON, Python and C do (a validator quotes the body, a proxy quotes the validator), or as
// HTML entities; whatever became of blanks, punctuation and case. Anything of 16 letters and digits in a row
// that a question has in a row is its text.
class QuestionText {
 public:
  void Add(std::string_view prompt);
  // `text` with "(question left out)" where a question was.
  std::string LeaveOut(const std::string& text) const;

 private:
  std::vector<bool> Marked(std::string_view text) const;

  std::unordered_set<std::string> windows_;
};

}  // namespace assay::evals
