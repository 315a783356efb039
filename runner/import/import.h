#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "record/run_record.h"

// Results that other tools left behind, as records that can be compared. What a source does not say stays
// unsaid, and the gate lists the checks that it cannot make.
namespace assay::runner {

struct ImportOptions {
  std::string format = {};              // name of an ImportFormat; "": told by the content
  std::string cell = "imported";        // key of the cell; a CSV names its own
  std::string serving = "serving";      // name of the benchmark of a vLLM result
  std::optional<int64_t> samples = {};  // behind a gpt-oss score, which its file does not say
  std::string metric = {};              // of an lm-eval result with several, "exact_match,strict-match"
};

// One file's content.
struct ImportSource {
  std::string name;  // for errors
  std::string text;
  nlohmann::json json;  // discarded when the text is no JSON
};

struct ImportFormat {
  std::string_view name;
  std::string_view what;
  bool (*recognise)(const ImportSource& source);
  Result<std::vector<record::CellRecord>> (*read)(const ImportSource& source, const ImportOptions& options);
};
const std::vector<ImportFormat>& ImportFormats();

// All files in one record; cells with the same key are joined. Errors name the file and what is wrong with
// it: a format that nobody knows, a missing or ill-typed value, the same eval or benchmark twice in a cell.
Result<record::RunRecord> Import(const std::vector<Path>& files, const ImportOptions& options);

// Requests in flight on average, by the times of the requests or by Little's law: their rate times the time
// each takes. 0 when the source states neither.
double StatedInFlight(const record::ServingRecord& serving);

// The readers; the table in import.cc lists them.
bool IsVllmBench(const ImportSource& source);
Result<std::vector<record::CellRecord>> ReadVllmBench(const ImportSource& source,
                                                      const ImportOptions& options);
bool IsGptOssEval(const ImportSource& source);
Result<std::vector<record::CellRecord>> ReadGptOssEval(const ImportSource& source,
                                                       const ImportOptions& options);
bool IsLmEval(const ImportSource& source);
Result<std::vector<record::CellRecord>> ReadLmEval(const ImportSource& source, const ImportOptions& options);
bool IsSummaryCsv(const ImportSource& source);
Result<std::vector<record::CellRecord>> ReadSummaryCsv(const ImportSource& source,
                                                       const ImportOptions& options);

}  // namespace assay::runner
