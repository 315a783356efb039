#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "evals/gpqa/gpqa.h"

// Where questions come from: a CSV with GPQA's columns, a folder of GPQA's files, or the zip that GPQA is
// published as (github.com/idavidrein/gpqa, whose README has the password).
namespace assay::evals {

struct PublishedSet {
  std::string variant;
  int64_t questions = 0;
};
const std::vector<PublishedSet>& PublishedSets();

// "gpqa_diamond.csv"
std::string SetFileName(std::string_view variant);

// A file and its bytes, or what was read out of one.
struct NamedText {
  std::string name;  // for errors and for the record
  std::string text;
};

// A CSV is taken as it is; of a folder or a zip it is the file of `variant`. `sha256`, when not empty, is
// what the file at `source` must have; of a folder, the CSV in it.
Result<NamedText> ReadDataset(const Path& source, const std::string& variant, const std::string& sha256);

// The CSV of a variant in a published zip that is in memory; kUsage when the zip has none.
Result<NamedText> ReadPublishedZip(std::string_view bytes, const std::string& source,
                                   const std::string& variant);
bool IsZip(std::string_view bytes);

// "sha256 is ..., not the pinned ...": kUsage unless `pin` is empty or right.
Status CheckPin(std::string_view bytes, const std::string& source, const std::string& pin);

// The questions of a CSV's text. Errors: missing column (named), empty text, a row with a wrong number of
// fields (its line), duplicate Record ID. No error quotes a question.
Result<std::vector<Question>> ParseQuestions(std::string_view text, const std::string& source);

// A file of at most 64 MiB; GPQA's largest has 4.
Result<std::string> ReadDataFile(const Path& file);

}  // namespace assay::evals
