// A table of figures, such as people put into pull requests. Columns by name, blank cells are unknown:
//   cell                        key of the cell; required
//   gpqa_score, samples         a score as printed, and of how many samples
//   serving                     name of a benchmark; then any of
//   input_len, output_len, num_prompts, max_concurrency, mean_output_tokens, mean_in_flight
//   and metrics by their names here: output_throughput_tok_s, ttft_mean_ms, ...
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/text.h"
#include "evals/gpqa/csv.h"
#include "runner/import/import.h"

namespace assay::runner {
namespace {

using record::Direction;
using record::ServingRecord;

using Fields = std::map<std::string, std::string>;  // of a row, without the blank ones

const std::vector<std::string>& MetricColumns() {
  static const std::vector<std::string> columns = [] {
    std::vector<std::string> names = {"request_throughput_req_s", "output_throughput_tok_s",
                                      "total_token_throughput_tok_s"};
    for (const char* latency : {"ttft", "tpot", "itl", "e2el"}) {
      for (const char* statistic : {"mean", "p50", "p90", "p95", "p99"}) {
        names.push_back(fmt::format("{}_{}_ms", latency, statistic));
      }
    }
    return names;
  }();
  return columns;
}

const std::vector<std::string> kPlainColumns = {"cell",          "gpqa_score",      "samples",
                                                "serving",       "input_len",       "output_len",
                                                "num_prompts",   "max_concurrency", "mean_output_tokens",
                                                "mean_in_flight"};

Status CheckColumns(const std::vector<std::string>& header, const std::string& source) {
  std::vector<std::string> known = kPlainColumns;
  known.insert(known.end(), MetricColumns().begin(), MetricColumns().end());
  std::map<std::string, int> seen;
  for (const std::string& column : header) {
    if (++seen[column] > 1) return Fail(ErrorKind::kUsage, "{}:1: column {} twice", source, column);
    if (std::find(known.begin(), known.end(), column) != known.end()) continue;
    const auto nearest = NearestWord(column, known);
    return Fail(ErrorKind::kUsage, "{}:1: unknown column {}{}", source, column,
                nearest ? "; did you mean " + *nearest + "?" : "");
  }
  if (!seen.contains("cell")) return Fail(ErrorKind::kUsage, "{}:1: no column named cell", source);
  return {};
}

class Row {
 public:
  Row(Fields fields, std::string where) : fields_(std::move(fields)), where_(std::move(where)) {}

  bool Has(const std::string& column) const { return fields_.contains(column); }
  std::string Text(const std::string& column) const { return Has(column) ? fields_.at(column) : ""; }
  // A finite number above zero; nullopt when blank.
  Result<std::optional<double>> Number(const std::string& column) const {
    if (!Has(column)) return std::optional<double>();
    const std::string& text = fields_.at(column);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (*end != '\0' || !std::isfinite(value) || value < 0) {
      return Fail(ErrorKind::kUsage, "{}: {}: expected a number, got `{}`", where_, column, text);
    }
    return std::optional<double>(value);
  }
  const std::string& Where() const { return where_; }

 private:
  Fields fields_;
  std::string where_;
};

Status ReadScore(const Row& row, record::CellRecord& cell) {
  ASSIGN_OR_RETURN(const auto score, row.Number("gpqa_score"));
  ASSIGN_OR_RETURN(const auto samples, row.Number("samples"));
  if (*score > 1)
    return Fail(ErrorKind::kUsage, "{}: gpqa_score: expected 0 to 1, got {}", row.Where(), *score);
  if (!samples || *samples < 1) {
    return Fail(ErrorKind::kUsage, "{}: a score needs its number of samples in column samples", row.Where());
  }
  record::AccuracyRecord accuracy;
  accuracy.source = "csv";
  accuracy.questions = static_cast<int64_t>(*samples);
  accuracy.stated = record::StatedScore{row.Text("gpqa_score"), accuracy.questions};
  accuracy.complete = true;
  cell.accuracy = std::move(accuracy);
  return {};
}

std::optional<double> Value(const ServingRecord& serving, const char* name) {
  const record::Metric* metric = record::Find(serving.metrics, name);
  return metric ? metric->value : std::nullopt;
}

// What follows from the figures: tokens a request from the two throughputs, requests in flight by Little's
// law.
void Derive(ServingRecord& serving) {
  const auto tokens = Value(serving, "output_throughput_tok_s"),
             requests = Value(serving, "request_throughput_req_s");
  if (serving.stated->mean_output_tokens == 0 && tokens && requests && *requests > 0) {
    serving.stated->mean_output_tokens = *tokens / *requests;
    serving.stated->derived = true;
  }
  if (serving.mean_in_flight == 0) serving.mean_in_flight = StatedInFlight(serving);
}

Result<ServingRecord> ReadServing(const Row& row) {
  ServingRecord serving;
  serving.name = row.Text("serving");
  serving.source = "csv";
  serving.ignore_eos = false;
  serving.complete = true;
  serving.stated.emplace();
  const auto count = [&](const char* column, int64_t& to) -> Status {
    ASSIGN_OR_RETURN(const auto number, row.Number(column));
    to = static_cast<int64_t>(number.value_or(0));
    return {};
  };
  RETURN_IF_ERROR(count("input_len", serving.input_len));
  RETURN_IF_ERROR(count("output_len", serving.output_len));
  RETURN_IF_ERROR(count("num_prompts", serving.num_prompts));
  serving.ignore_eos = serving.output_len > 0;  // a stated output length is one that was asked for
  ASSIGN_OR_RETURN(const auto concurrency, row.Number("max_concurrency"));
  if (concurrency) serving.max_concurrency = static_cast<int64_t>(*concurrency);
  ASSIGN_OR_RETURN(const auto length, row.Number("mean_output_tokens"));
  ASSIGN_OR_RETURN(const auto in_flight, row.Number("mean_in_flight"));
  serving.stated->mean_output_tokens = length.value_or(0);
  serving.mean_in_flight = in_flight.value_or(0);
  for (const std::string& name : MetricColumns()) {
    ASSIGN_OR_RETURN(const auto value, row.Number(name));
    if (!value) continue;
    const bool rate = name.find("throughput") != std::string::npos;
    serving.metrics.push_back(
        {name, rate ? name.substr(name.size() - 5) == "req_s" ? "req/s" : "tok/s" : "ms",
         rate ? Direction::kHigherIsBetter : Direction::kLowerIsBetter, value, serving.num_prompts});
  }
  if (serving.metrics.empty()) {
    return Fail(ErrorKind::kUsage, "{}: benchmark {} has no figure", row.Where(), serving.name);
  }
  Derive(serving);
  return serving;
}

}  // namespace

bool IsSummaryCsv(const ImportSource& source) {
  const auto rows = evals::ParseCsv(source.text.substr(0, source.text.find('\n') + 1), source.name);
  if (!source.json.is_discarded() || !rows || rows->empty()) return false;
  const std::vector<std::string>& header = rows->front().fields;
  return std::find(header.begin(), header.end(), "cell") != header.end();
}

Result<std::vector<record::CellRecord>> ReadSummaryCsv(const ImportSource& source, const ImportOptions&) {
  ASSIGN_OR_RETURN(const std::vector<evals::CsvRow> rows, evals::ParseCsv(source.text, source.name));
  if (rows.size() < 2) return Fail(ErrorKind::kUsage, "{}: no rows", source.name);
  const std::vector<std::string>& header = rows.front().fields;
  RETURN_IF_ERROR(CheckColumns(header, source.name));
  std::vector<record::CellRecord> cells;
  for (size_t i = 1; i < rows.size(); ++i) {
    Fields fields;
    for (size_t c = 0; c < header.size(); ++c) {
      const std::string value(Trim(rows[i].fields[c]));
      if (!value.empty()) fields[header[c]] = value;
    }
    const Row row(std::move(fields), fmt::format("{}:{}", source.name, rows[i].line));
    record::CellRecord cell;
    cell.key = row.Text("cell");
    if (cell.key.empty()) return Fail(ErrorKind::kUsage, "{}: the cell is not named", row.Where());
    if (row.Has("gpqa_score")) RETURN_IF_ERROR(ReadScore(row, cell));
    if (row.Has("serving")) {
      ASSIGN_OR_RETURN(ServingRecord serving, ReadServing(row));
      cell.serving.push_back(std::move(serving));
    }
    if (!cell.accuracy && cell.serving.empty()) {
      return Fail(ErrorKind::kUsage, "{}: neither gpqa_score nor serving", row.Where());
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace assay::runner
