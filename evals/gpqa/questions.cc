#include <map>
#include <unordered_map>

#include "base/text.h"
#include "evals/gpqa/csv.h"
#include "evals/gpqa/dataset.h"

namespace assay::evals {
namespace {

// Column of each header, matched whole: GPQA also has "Pre-Revision Correct Answer" and "Extra Revised
// Correct Answer".
class Header {
 public:
  Header(std::string source, const CsvRow& row) : source_(std::move(source)), names_(row.fields) {
    for (size_t i = names_.size(); i-- > 0;) columns_[names_[i]] = i;
  }

  std::optional<size_t> Find(const std::string& name) const {
    const auto found = columns_.find(name);
    if (found == columns_.end()) return std::nullopt;
    return found->second;
  }

  Result<size_t> Require(const std::string& name) const {
    if (const auto column = Find(name)) return *column;
    const auto nearest = NearestWord(name, names_);
    return Fail(ErrorKind::kUsage, "{}: no column named '{}'{}: GPQA's headers are matched exactly", source_,
                name, nearest ? " (nearest: '" + *nearest + "')" : "");
  }

 private:
  std::string source_;
  std::vector<std::string> names_;
  std::map<std::string, size_t> columns_;
};

// A spreadsheet's Latin-1 or UTF-16 would reach the model as something else than what is on the screen.
Status CheckText(std::string_view text, const std::string& source) {
  int64_t line = 0;
  for (const std::string& content : Split(text, '\n')) {
    ++line;
    if (IsValidUtf8(content) && content.find('\0') == std::string::npos) continue;
    return Fail(ErrorKind::kUsage, "{}:{}: is not UTF-8 text; save the file as UTF-8", source, line);
  }
  return {};
}

}  // namespace

Result<std::vector<Question>> ParseQuestions(std::string_view text, const std::string& source) {
  RETURN_IF_ERROR(CheckText(text, source));
  ASSIGN_OR_RETURN(const std::vector<CsvRow> rows, ParseCsv(text, source));
  if (rows.empty())
    return Fail(ErrorKind::kUsage, "{}: empty file: a CSV with GPQA's columns is needed", source);

  const Header header(source, rows[0]);
  ASSIGN_OR_RETURN(const size_t question_column, header.Require("Question"));
  ASSIGN_OR_RETURN(const size_t correct_column, header.Require("Correct Answer"));
  ASSIGN_OR_RETURN(const size_t incorrect_1_column, header.Require("Incorrect Answer 1"));
  ASSIGN_OR_RETURN(const size_t incorrect_2_column, header.Require("Incorrect Answer 2"));
  ASSIGN_OR_RETURN(const size_t incorrect_3_column, header.Require("Incorrect Answer 3"));
  ASSIGN_OR_RETURN(const size_t id_column, header.Require("Record ID"));
  ASSIGN_OR_RETURN(const size_t domain_column, header.Require("High-level domain"));
  const std::optional<size_t> band_column = header.Find("Writer's Difficulty Estimate");
  if (rows.size() == 1) return Fail(ErrorKind::kUsage, "{}: a header and no questions", source);

  std::vector<Question> questions;
  std::unordered_map<std::string, int64_t> line_of_id;
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::vector<std::string>& fields = rows[i].fields;
    for (const size_t column : {question_column, correct_column, incorrect_1_column, incorrect_2_column,
                                incorrect_3_column, id_column}) {
      if (!Trim(fields[column]).empty()) continue;
      return Fail(ErrorKind::kUsage, "{}:{}: column '{}' is empty", source, rows[i].line,
                  rows[0].fields[column]);
    }
    const auto [first, fresh] = line_of_id.emplace(fields[id_column], rows[i].line);
    if (!fresh) {
      return Fail(ErrorKind::kUsage, "{}:{}: Record ID '{}' was already used in line {}", source,
                  rows[i].line, fields[id_column], first->second);
    }
    questions.push_back({fields[id_column],
                         fields[question_column],
                         {fields[correct_column], fields[incorrect_1_column], fields[incorrect_2_column],
                          fields[incorrect_3_column]},
                         fields[domain_column],
                         band_column ? fields[*band_column] : ""});
  }
  return questions;
}

}  // namespace assay::evals
