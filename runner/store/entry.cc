#include "runner/store/entry.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "base/hash.h"
#include "base/text.h"
#include "record/json_text.h"
#include "record/struct_json.h"

namespace assay::record {

template <>
inline constexpr auto kFields<runner::StoredCell> = std::tuple{
    Required("key", &runner::StoredCell::key),
    Required("config_hash", &runner::StoredCell::config_hash),
    Optional("host", &runner::StoredCell::host),
    Required("eligible", &runner::StoredCell::eligible),
    Optional("metrics", &runner::StoredCell::metrics),
};

template <>
inline constexpr auto kFields<runner::StoredRun> = std::tuple{
    Required("id", &runner::StoredRun::id),
    Required("created", &runner::StoredRun::created),
    Optional("repository", &runner::StoredRun::repository),
    Optional("branch", &runner::StoredRun::branch),
    Optional("commit", &runner::StoredRun::commit),
    Required("status", &runner::StoredRun::status),
    Required("exit_code", &runner::StoredRun::exit_code),
    Required("record_sha256", &runner::StoredRun::record_sha256),
    Required("cells", &runner::StoredRun::cells),
};

template <>
inline constexpr auto kFields<gate::Acknowledgement> = std::tuple{
    Required("id", &gate::Acknowledgement::id),
    Required("cell", &gate::Acknowledgement::cell),
    Required("metric", &gate::Acknowledgement::metric),
    Required("owner", &gate::Acknowledgement::owner),
    Required("reason", &gate::Acknowledgement::reason),
    Required("created", &gate::Acknowledgement::created),
    Required("expires", &gate::Acknowledgement::expires),
};

template <>
inline constexpr auto kFields<runner::StoreIndex> = std::tuple{
    Required("schema", &runner::StoreIndex::schema),
    Required("runs", &runner::StoreIndex::runs),
    Required("acknowledgements", &runner::StoreIndex::acknowledgements),
};

}  // namespace assay::record

namespace assay::runner {
namespace {

template <typename S>
Result<S> Parse(std::string_view text, const std::string& source) {
  ASSIGN_OR_RETURN(const nlohmann::json json, record::ParseJsonText(text, source));
  S read;
  if (Status status = record::ReadValue(json, record::JsonPath{}, read); !status)
    return FailWithin(source, std::move(status).error());
  return read;
}

template <typename S>
std::string Line(const S& value) {
  return record::WriteValue(value, record::kFullPrecision).dump();
}

}  // namespace

std::string RecordText(const record::RunRecord& record) {
  return record::ToJson(record).dump();
}

Result<record::RunRecord> ParseRecordText(const std::string& text, const std::string& sha256,
                                          const std::string& source) {
  if (Sha256(text) != sha256)
    return Fail(ErrorKind::kInvalid, "{}: its record is damaged; restore a copy of the store", source);
  return record::ParseRunRecord(text, source);
}

tl::unexpected<Error> NoSuchRun(const std::string& place, const std::string& run_id) {
  return Fail(ErrorKind::kUsage, "{}: has no run {}; `assay baseline list` shows those it has", place,
              run_id);
}

std::string RunEntryText(StoredRun run, const record::RunRecord& record) {
  const std::string text = RecordText(record);
  run.record_sha256 = Sha256(text);
  return Line(run) + "\n" + text + "\n";
}

Result<StoredRun> ParseRunHead(std::string_view first_line, const std::string& source) {
  ASSIGN_OR_RETURN(StoredRun run, Parse<StoredRun>(first_line, source));
  if (Status status = CheckId(run.id); !status) return FailWithin(source, std::move(status).error());
  return run;
}

Result<record::RunRecord> ParseRunEntry(const std::string& text, const std::string& source) {
  const size_t end = text.find('\n');
  ASSIGN_OR_RETURN(const StoredRun run, ParseRunHead(text.substr(0, end), source));
  std::string record = end == std::string::npos ? "" : text.substr(end + 1);
  if (record.ends_with('\n')) record.pop_back();
  return ParseRecordText(record, run.record_sha256, source);
}

std::string AcknowledgementText(const gate::Acknowledgement& acknowledgement) {
  return Line(acknowledgement) + "\n";
}

Result<gate::Acknowledgement> ParseAcknowledgement(std::string_view text, const std::string& source) {
  ASSIGN_OR_RETURN(gate::Acknowledgement read, Parse<gate::Acknowledgement>(text, source));
  if (Status status = CheckId(read.id); !status) return FailWithin(source, std::move(status).error());
  // Dates are compared as text: "never" would hold for ever.
  int year = 0, month = 0, day = 0, end = 0;
  const bool date = read.expires.size() == 10 &&
                    std::sscanf(read.expires.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &end) == 3 &&
                    end == 10;
  if (!date) return Fail(ErrorKind::kInvalid, "{}: expires: {} is no date", source, Printable(read.expires));
  read.owner = Printable(read.owner);
  read.reason = Printable(read.reason);
  return read;
}

std::string IndexText(const StoreIndex& index) {
  return record::JsonText(record::WriteValue(index, record::kFullPrecision));
}

Result<StoreIndex> ParseIndex(std::string_view text, const std::string& source) {
  ASSIGN_OR_RETURN(StoreIndex index, Parse<StoreIndex>(text, source));
  if (index.schema == StoreIndex().schema) return index;
  return Fail(ErrorKind::kUsage, "{}: schema: this assay reads {}, the index says {}", source,
              StoreIndex().schema, index.schema);
}

Status CheckId(const std::string& id) {
  const bool plain = !id.empty() && id.size() <= 128 && id.front() != '.' &&
                     std::all_of(id.begin(), id.end(), [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                     });
  if (plain) return {};
  return Fail(ErrorKind::kUsage, "run id {}: only letters, digits, - _ and . can be stored", id);
}

std::string RunFileName(const std::string& id) {
  return "runs/" + id + ".json";
}

std::string AcknowledgementFileName(const std::string& id) {
  return "acknowledgements/" + id + ".json";
}

void SortNewestFirst(std::vector<StoredRun>& runs) {
  std::sort(runs.begin(), runs.end(), [](const StoredRun& a, const StoredRun& b) {
    return std::tie(a.created, a.id) > std::tie(b.created, b.id);
  });
}

void SortOldestFirst(std::vector<gate::Acknowledgement>& acknowledgements) {
  std::sort(acknowledgements.begin(), acknowledgements.end(), [](const auto& a, const auto& b) {
    return std::tie(a.created, a.id) < std::tie(b.created, b.id);
  });
}

}  // namespace assay::runner
