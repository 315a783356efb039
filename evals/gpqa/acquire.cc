#include "evals/gpqa/acquire.h"

#include <algorithm>
#include <optional>

#include "base/hash.h"
#include "base/secrets.h"
#include "base/text.h"
#include "evals/gpqa/dataset.h"
#include "evals/http/client.h"

namespace assay::evals {
namespace {

struct VariantText {
  std::string variant;
  NamedText csv;
};

bool IsUrl(const std::string& from) {
  return StartsWith(from, "http://") || StartsWith(from, "https://");
}

// The last part of a path or an address, without a query.
std::string FileName(const std::string& from) {
  const std::string path = from.substr(0, IsUrl(from) ? from.find_first_of("?#") : std::string::npos);
  return Path(path).filename().string();
}

Result<std::string> Download(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.follow_redirects = true;
  const HttpResult result = Fetch(request);
  if (!result.error.empty())
    return Fail(ErrorKind::kInfrastructure, "{}: {}", HideUserInfo(url), result.error);
  if (!result.ok()) {
    return Fail(result.status >= 500 ? ErrorKind::kInfrastructure : ErrorKind::kUsage,
                "{}: the server answers with HTTP {}", HideUserInfo(url), result.status);
  }
  return result.body;
}

Status CheckIsNoPage(std::string_view bytes, const std::string& from) {
  const std::string head = ToLower(Trim(bytes.substr(0, 1024)));
  if (!StartsWith(head, "<!doctype") && !StartsWith(head, "<html") && !StartsWith(head, "<?xml")) return {};
  return Fail(
      ErrorKind::kUsage,
      "{}: is a web page, neither a zip nor a CSV; give the address of the file itself (of GitHub's pages "
      "the one behind Raw)",
      from);
}

// "gpqa_diamond.csv" is diamond.
std::optional<std::string> VariantOf(const std::string& file_name) {
  for (const PublishedSet& set : PublishedSets()) {
    if (file_name == SetFileName(set.variant)) return set.variant;
  }
  return std::nullopt;
}

std::vector<std::string> Wanted(const AcquireOptions& options) {
  if (!options.variant.empty()) return {options.variant};
  std::vector<std::string> all;
  for (const PublishedSet& set : PublishedSets()) all.push_back(set.variant);
  return all;
}

Result<std::vector<VariantText>> FromFolder(const AcquireOptions& options) {
  if (!options.sha256.empty()) {
    return Fail(ErrorKind::kUsage, "{}: is a folder, and a SHA-256 is of one file; name the file",
                options.from);
  }
  std::vector<VariantText> found;
  std::vector<std::string> obstacles;
  for (const std::string& variant : Wanted(options)) {
    auto csv = ReadDataset(options.from, variant, "");
    if (csv) {
      found.push_back({variant, std::move(*csv)});
    } else {
      obstacles.push_back(csv.error().message);
    }
  }
  if (found.empty()) return Fail(ErrorKind::kUsage, "{}", Join(obstacles, "\n"));
  return found;
}

Result<std::vector<VariantText>> FromBytes(const AcquireOptions& options, std::string bytes) {
  RETURN_IF_ERROR(CheckIsNoPage(bytes, options.from));
  RETURN_IF_ERROR(CheckPin(bytes, options.from, options.sha256));
  std::vector<VariantText> found;
  if (IsZip(bytes)) {
    for (const std::string& variant : Wanted(options)) {
      ASSIGN_OR_RETURN(NamedText csv, ReadPublishedZip(bytes, options.from, variant));
      found.push_back({variant, std::move(csv)});
    }
    return found;
  }
  const std::optional<std::string> named = VariantOf(FileName(options.from));
  if (options.variant.empty() && !named) {
    return Fail(ErrorKind::kUsage,
                "{}: which set is it? its name is not gpqa_diamond.csv or the like; say --variant",
                options.from);
  }
  found.push_back({options.variant.empty() ? *named : options.variant, {options.from, std::move(bytes)}});
  return found;
}

Result<std::vector<VariantText>> Read(const AcquireOptions& options) {
  std::error_code ignored;
  if (IsUrl(options.from)) {
    ASSIGN_OR_RETURN(std::string bytes, Download(options.from));
    return FromBytes(options, std::move(bytes));
  }
  if (std::filesystem::is_directory(options.from, ignored)) return FromFolder(options);
  ASSIGN_OR_RETURN(std::string bytes, ReadDataFile(options.from));
  return FromBytes(options, std::move(bytes));
}

// A cut download that ends between two rows is a smaller set, and any set can be named diamond.
Status CheckCount(const VariantText& set, size_t questions) {
  const auto& sets = PublishedSets();
  const auto published = std::find_if(sets.begin(), sets.end(),
                                      [&](const PublishedSet& each) { return each.variant == set.variant; });
  if (published == sets.end()) {
    return Fail(ErrorKind::kUsage, "unknown variant {}: diamond, main or extended", set.variant);
  }
  if (questions == static_cast<size_t>(published->questions)) return {};
  return Fail(ErrorKind::kUsage,
              "{}: has {} questions, GPQA {} has {}; a set of your own needs no storing: name its CSV in a "
              "config's dataset",
              set.csv.name, questions, set.variant, published->questions);
}

}  // namespace

Result<std::vector<AcquiredSet>> AcquireGpqa(const AcquireOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<VariantText> sets, Read(options));
  std::vector<AcquiredSet> acquired;
  for (const VariantText& set : sets) {
    ASSIGN_OR_RETURN(const std::vector<Question> questions, ParseQuestions(set.csv.text, set.csv.name));
    RETURN_IF_ERROR(CheckCount(set, questions.size()));
    acquired.push_back({set.variant, static_cast<int64_t>(questions.size()), Sha256(set.csv.text),
                        options.folder / SetFileName(set.variant)});
  }
  RETURN_IF_ERROR(MakeFolders(options.folder));
  for (size_t i = 0; i < sets.size(); ++i) {
    RETURN_IF_ERROR(WriteFileAtomic(acquired[i].file, sets[i].csv.text));
  }
  return acquired;
}

}  // namespace assay::evals
