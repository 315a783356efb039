#include "runner/import/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay_version.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"

namespace assay::runner {
namespace {

using record::CellRecord;

Result<ImportSource> Load(const Path& file) {
  ImportSource source{file.string(), {}, {}};
  ASSIGN_OR_RETURN(source.text, ReadFile(file));
  source.json = nlohmann::json::parse(source.text, nullptr, /*allow_exceptions=*/false);
  return source;
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const ImportFormat& format : ImportFormats()) names.emplace_back(format.name);
  return names;
}

Result<const ImportFormat*> FormatOf(const ImportSource& source, const std::string& wanted) {
  for (const ImportFormat& format : ImportFormats()) {
    if (wanted.empty() ? format.recognise(source) : format.name == wanted) return &format;
  }
  if (!wanted.empty()) {
    return Fail(ErrorKind::kUsage, "--format {}: unknown; the formats are {}", wanted,
                Join(FormatNames(), ", "));
  }
  return Fail(ErrorKind::kUsage, "{}: {}; the formats are {}", source.name,
              source.json.is_discarded() ? "neither JSON nor a CSV with a `cell` column"
                                         : "JSON, but no result that is known here",
              Join(FormatNames(), ", "));
}

Status AddCell(CellRecord cell, const std::string& source, std::vector<CellRecord>& cells) {
  constexpr std::string_view kKeyCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
  if (cell.key.empty() || cell.key.find_first_not_of(kKeyCharacters) != std::string::npos) {
    return Fail(ErrorKind::kUsage, "{}: cell `{}`: a key is made of a-z 0-9 _ . -", source, cell.key);
  }
  const auto same = std::find_if(cells.begin(), cells.end(),
                                 [&](const CellRecord& other) { return other.key == cell.key; });
  if (same == cells.end()) {
    cells.push_back(std::move(cell));
    return {};
  }
  if (cell.accuracy && same->accuracy) {
    return Fail(ErrorKind::kUsage, "{}: cell {} has a second score; give it another --cell", source,
                cell.key);
  }
  if (cell.accuracy) same->accuracy = std::move(cell.accuracy);
  for (record::ServingRecord& serving : cell.serving) {
    for (const record::ServingRecord& other : same->serving) {
      if (other.name == serving.name) {
        return Fail(ErrorKind::kUsage, "{}: cell {} has a second benchmark {}; give it another --serving",
                    source, cell.key, serving.name);
      }
    }
    same->serving.push_back(std::move(serving));
  }
  return {};
}

}  // namespace

const std::vector<ImportFormat>& ImportFormats() {
  static const std::vector<ImportFormat> formats = {
      {"vllm-bench", "result JSON of `vllm bench serve`, plain or detailed", IsVllmBench, ReadVllmBench},
      {"lm-eval", "results JSON of lm-evaluation-harness", IsLmEval, ReadLmEval},
      {"gpt-oss", "result JSON of gpt_oss.evals or simple-evals", IsGptOssEval, ReadGptOssEval},
      {"csv", "summary figures, one row for a score or a benchmark", IsSummaryCsv, ReadSummaryCsv},
  };
  return formats;
}

Result<record::RunRecord> Import(const std::vector<Path>& files, const ImportOptions& options) {
  record::RunRecord record;
  std::string digests;
  for (const Path& file : files) {
    ASSIGN_OR_RETURN(const ImportSource source, Load(file));
    ASSIGN_OR_RETURN(const ImportFormat* format, FormatOf(source, options.format));
    ASSIGN_OR_RETURN(std::vector<CellRecord> cells, format->read(source, options));
    for (CellRecord& cell : cells) {
      cell.config = cell.key;
      cell.config_file = source.name;
      RETURN_IF_ERROR(AddCell(std::move(cell), source.name, record.cells));
    }
    digests += Sha256(source.text);
  }
  record.id = "import-" + Sha256(digests).substr(0, 12);
  record.created = UtcNow();
  record.assay_version = ASSAY_VERSION;
  record.assay_commit = ASSAY_COMMIT;
  return record;
}

}  // namespace assay::runner
