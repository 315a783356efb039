#include "evals/serving/trace.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "wire/json_fields.h"

namespace assay::evals {
namespace {

constexpr int64_t kLongest = 10'000'000;  // tokens
constexpr double kLastSecond = 1e9;

Result<TraceEntry> ParseLine(std::string_view line) {
  TraceEntry entry;
  if (line.front() != '{') {
    const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), entry.at_s);
    if (problem != std::errc() || end != line.data() + line.size()) {
      return Fail(ErrorKind::kUsage, "seconds or a JSON object are needed, not {}", line.substr(0, 60));
    }
    return entry;
  }
  ASSIGN_OR_RETURN(const auto object, wire::ParseJsonObject(line, ErrorKind::kUsage, "line"));
  wire::JsonFields fields(object, ErrorKind::kUsage);
  std::optional<double> timestamp_ms;
  fields.Number("timestamp", &timestamp_ms, 0, kLastSecond * 1000);
  fields.Integer("input_length", &entry.input_len, 1, kLongest);
  fields.Integer("output_length", &entry.output_len, 1, kLongest);
  if (!timestamp_ms) fields.Wrong("timestamp", "is missing; milliseconds from the start are needed");
  RETURN_IF_ERROR(fields.Check());
  entry.at_s = *timestamp_ms / 1000;
  return entry;
}

}  // namespace

Result<std::vector<TraceEntry>> LoadTrace(const Path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  std::vector<TraceEntry> entries;
  size_t number = 0;
  for (const std::string& line : SplitLines(text)) {
    ++number;
    const std::string_view trimmed = Trim(line);
    if (trimmed.empty()) continue;
    const auto entry = ParseLine(trimmed);
    if (!entry) {
      return Fail(ErrorKind::kUsage, "trace {}:{}: {}", file.string(), number,
                  Printable(entry.error().message));
    }
    if (!(entry->at_s >= 0 && entry->at_s <= kLastSecond)) {
      return Fail(ErrorKind::kUsage, "trace {}:{}: the time must be in [0, {:g}] s, got {}", file.string(),
                  number, kLastSecond, entry->at_s);
    }
    if (!entries.empty() && entry->at_s < entries.back().at_s) {
      return Fail(ErrorKind::kUsage, "trace {}:{}: goes back from {} s to {} s; sort the file by time",
                  file.string(), number, entries.back().at_s, entry->at_s);
    }
    entries.push_back(*entry);
  }
  if (entries.empty()) return Fail(ErrorKind::kUsage, "trace {}: holds no request", file.string());
  return entries;
}

}  // namespace assay::evals
