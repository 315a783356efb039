#include "evals/gpqa/zip.h"

#include <zip.h>

#include <memory>

namespace assay::evals {
namespace {

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Member = std::unique_ptr<zip_file_t, Discard>;
using Source = std::unique_ptr<zip_source_t, Discard>;

std::string Words(zip_error_t* error) {
  std::string words = zip_error_strerror(error);
  zip_error_fini(error);
  return words;
}

Result<Archive> Open(std::string_view bytes, std::string_view name) {
  zip_error_t error;
  zip_error_init(&error);
  Source source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error));
  if (!source) return Fail(ErrorKind::kInfrastructure, "{}: {}", name, Words(&error));
  Archive archive(zip_open_from_source(source.get(), ZIP_RDONLY, &error));
  if (!archive) {
    return Fail(ErrorKind::kUsage, "{}: is no whole zip archive ({}); download it again", name,
                Words(&error));
  }
  static_cast<void>(source.release());  // the archive's from here on
  return archive;
}

}  // namespace

Result<std::optional<std::string>> ReadZipMember(std::string_view archive_bytes, std::string_view source,
                                                 const std::string& name, const std::string& password,
                                                 size_t max_bytes) {
  ASSIGN_OR_RETURN(const Archive archive, Open(archive_bytes, source));
  const zip_int64_t index = zip_name_locate(archive.get(), name.c_str(), 0);
  if (index < 0) return std::nullopt;
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(archive.get(), static_cast<zip_uint64_t>(index), 0, &stat) != 0) {
    return Fail(ErrorKind::kUsage, "{}: {}: {}", source, name, zip_strerror(archive.get()));
  }
  const bool encrypted =
      (stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE;
  const Member member(zip_fopen_index_encrypted(archive.get(), static_cast<zip_uint64_t>(index), 0,
                                                encrypted ? password.c_str() : nullptr));
  if (!member) {
    return Fail(ErrorKind::kUsage, "{}: {}: cannot be opened: {}", source, name, zip_strerror(archive.get()));
  }
  std::string content, buffer(size_t{1} << 16, '\0');
  for (;;) {
    const zip_int64_t n = zip_fread(member.get(), buffer.data(), buffer.size());
    if (n == 0) return content;
    if (n < 0) {
      // One wrong password in 256 is only noticed here: what it decrypts is no data.
      return Fail(ErrorKind::kUsage, "{}: {}: cannot be read: {}; the archive is broken{}", source, name,
                  zip_file_strerror(member.get()), encrypted ? ", or the password is another" : "");
    }
    content.append(buffer, 0, static_cast<size_t>(n));
    if (content.size() > max_bytes) {
      return Fail(ErrorKind::kUsage, "{}: {}: is larger than {} MiB; GPQA's files are not", source, name,
                  max_bytes >> 20);
    }
  }
}

}  // namespace assay::evals
