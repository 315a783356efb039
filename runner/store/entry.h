#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "runner/store/baseline_store.h"

// How a run and an acknowledgement are written where a store is made of files: in a folder, on a git branch,
// on a web server. Two lines: what is known of the run (StoredRun, with the SHA-256 of the second line), and
// its record. The first line alone is enough to choose from.
namespace assay::runner {

std::string RecordText(const record::RunRecord& record);
// kInvalid unless the text has this SHA-256.
Result<record::RunRecord> ParseRecordText(const std::string& text, const std::string& sha256,
                                          const std::string& source);
tl::unexpected<Error> NoSuchRun(const std::string& place, const std::string& run_id);

std::string RunEntryText(StoredRun run, const record::RunRecord& record);
Result<StoredRun> ParseRunHead(std::string_view first_line, const std::string& source);
Result<record::RunRecord> ParseRunEntry(const std::string& text, const std::string& source);

std::string AcknowledgementText(const gate::Acknowledgement& acknowledgement);
Result<gate::Acknowledgement> ParseAcknowledgement(std::string_view text, const std::string& source);

// All of a store without its records: what a web server offers as index.json.
struct StoreIndex {
  std::string schema = "assay/store/1";
  std::vector<StoredRun> runs;
  std::vector<gate::Acknowledgement> acknowledgements;
};
std::string IndexText(const StoreIndex& index);
Result<StoreIndex> ParseIndex(std::string_view text, const std::string& source);

// An id becomes part of a path, and records come from others: letters, digits, - _ and ., no dot in front.
Status CheckId(const std::string& id);
std::string RunFileName(const std::string& id);              // "runs/<id>.json"
std::string AcknowledgementFileName(const std::string& id);  // "acknowledgements/<id>.json"

// Newest first; of one second, by id.
void SortNewestFirst(std::vector<StoredRun>& runs);
void SortOldestFirst(std::vector<gate::Acknowledgement>& acknowledgements);

}  // namespace assay::runner
