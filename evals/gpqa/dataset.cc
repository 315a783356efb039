#include "evals/gpqa/dataset.h"

#include "base/hash.h"
#include "base/text.h"
#include "evals/gpqa/zip.h"

namespace assay::evals {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr char kPublishedPassword[] = "deserted-untie-orchid";

Status CheckVariant(const std::string& source, const std::string& variant) {
  if (!variant.empty()) return {};
  return Fail(ErrorKind::kUsage,
              "{}: holds several question sets; name one of them: variant: diamond, main or extended",
              source);
}

// GPQA's files lie in a folder `dataset` of the zip; who unpacks it may keep that folder or not.
Result<Path> FindInFolder(const Path& folder, const std::string& variant) {
  std::error_code ignored;
  for (const Path& file : {folder / SetFileName(variant), folder / "dataset" / SetFileName(variant)}) {
    if (std::filesystem::is_regular_file(file, ignored)) return file;
  }
  return Fail(ErrorKind::kUsage, "{}: has no {}, neither in it nor in its folder dataset", folder.string(),
              SetFileName(variant));
}

}  // namespace

const std::vector<PublishedSet>& PublishedSets() {
  static const std::vector<PublishedSet> sets = {{"diamond", 198}, {"main", 448}, {"extended", 546}};
  return sets;
}

std::string SetFileName(std::string_view variant) {
  return fmt::format("gpqa_{}.csv", variant);
}

bool IsZip(std::string_view bytes) {
  return StartsWith(bytes, "PK\x03\x04") || StartsWith(bytes, "PK\x05\x06");
}

Status CheckPin(std::string_view bytes, const std::string& source, const std::string& pin) {
  if (pin.empty()) return {};
  const std::string sha256 = Sha256(bytes);
  if (sha256 == ToLower(pin)) return {};
  return Fail(ErrorKind::kUsage, "{}: has SHA-256 {}, not the pinned {}; it is another file", source, sha256,
              pin);
}

Result<std::string> ReadDataFile(const Path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (!error && size > kMaxBytes) {
    return Fail(ErrorKind::kUsage, "{}: has {} MiB; a question set of more than {} MiB is not read",
                file.string(), size >> 20, kMaxBytes >> 20);
  }
  return ReadFile(file);
}

Result<NamedText> ReadPublishedZip(std::string_view bytes, const std::string& source,
                                   const std::string& variant) {
  RETURN_IF_ERROR(CheckVariant(source, variant));
  const std::string member = "dataset/" + SetFileName(variant);
  ASSIGN_OR_RETURN(std::optional<std::string> text,
                   ReadZipMember(bytes, source, member, kPublishedPassword, kMaxBytes));
  if (!text) {
    return Fail(ErrorKind::kUsage, "{}: has no member {}; it is not the zip that GPQA is published as",
                source, member);
  }
  return NamedText{source + ":" + member, std::move(*text)};
}

Result<NamedText> ReadDataset(const Path& source, const std::string& variant, const std::string& sha256) {
  std::error_code ignored;
  Path file = source;
  if (std::filesystem::is_directory(source, ignored)) {
    RETURN_IF_ERROR(CheckVariant(source.string(), variant));
    ASSIGN_OR_RETURN(file, FindInFolder(source, variant));
  }
  ASSIGN_OR_RETURN(std::string bytes, ReadDataFile(file));
  RETURN_IF_ERROR(CheckPin(bytes, file.string(), sha256));
  if (IsZip(bytes)) return ReadPublishedZip(bytes, file.string(), variant);
  if (file == source && !variant.empty()) {
    return Fail(ErrorKind::kUsage,
                "{}: is neither a zip nor a folder, so there is no {} in it; leave variant out",
                file.string(), variant);
  }
  return NamedText{file.string(), std::move(bytes)};
}

}  // namespace assay::evals
