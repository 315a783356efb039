#include "evals/gpqa/csv.h"

#include "base/text.h"

namespace assay::evals {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  bool AtEnd() const { return at_ >= text_.size(); }

  Result<CsvRow> Row() {
    CsvRow row;
    row.line = line_;
    for (;;) {
      ASSIGN_OR_RETURN(std::string field, Field());
      row.fields.push_back(std::move(field));
      if (AtEnd()) return row;
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      at_ += text_[at_] == '\r' ? 2 : 1;
      ++line_;
      return row;
    }
  }

 private:
  bool AtRowEnd() const {
    return AtEnd() || text_[at_] == '\n' || (text_[at_] == '\r' && text_.substr(at_ + 1, 1) == "\n");
  }

  Result<std::string> Field() {
    if (!AtEnd() && text_[at_] == '"') return QuotedField();
    const size_t start = at_;
    while (!AtRowEnd() && text_[at_] != ',') {
      if (text_[at_] == '"') {
        return Fail(ErrorKind::kUsage, "{}:{}: quote inside an unquoted field: quote the field and double it",
                    source_, line_);
      }
      ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  Result<std::string> QuotedField() {
    const int64_t opened = line_;
    std::string field;
    ++at_;
    for (; !AtEnd(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        if (text_.substr(at_ + 1, 1) != "\"") break;
        ++at_;
      }
      if (c == '\n') ++line_;
      field.push_back(c);
    }
    if (AtEnd()) {
      return Fail(ErrorKind::kUsage, "{}:{}: quote opened here is never closed: is the file cut?", source_,
                  opened);
    }
    ++at_;
    if (!AtRowEnd() && text_[at_] != ',') {
      return Fail(ErrorKind::kUsage, "{}:{}: text after the closing quote of a field", source_, line_);
    }
    return field;
  }

  std::string_view text_, source_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

}  // namespace

Result<std::vector<CsvRow>> ParseCsv(std::string_view text, std::string_view source) {
  if (StartsWith(text, "\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<CsvRow> rows;
  CsvReader reader(text, source);
  while (!reader.AtEnd()) {
    ASSIGN_OR_RETURN(CsvRow row, reader.Row());
    if (row.fields.size() == 1 && row.fields[0].empty()) continue;
    if (!rows.empty() && row.fields.size() != rows[0].fields.size()) {
      return Fail(ErrorKind::kUsage, "{}:{}: row has {} fields, the header has {}", source, row.line,
                  row.fields.size(), rows[0].fields.size());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace assay::evals
