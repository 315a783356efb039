#include "runner/run/model_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace assay::runner {
namespace {

constexpr std::streamoff kEnd = 1 << 20;

// The first and the last MiB of a file.
std::string Ends(const Path& file, std::streamoff size) {
  std::ifstream in(file, std::ios::binary);
  std::string ends(static_cast<size_t>(std::min(size, 2 * kEnd)), '\0');
  const std::streamoff head = std::min(size, kEnd);
  in.read(ends.data(), head);
  in.seekg(std::max(head, size - kEnd));
  in.read(ends.data() + head, static_cast<std::streamsize>(ends.size()) - head);
  return ends;
}

}  // namespace

std::string ModelIdentity(const std::string& model) {
  std::error_code error;
  std::vector<Path> files;
  if (std::filesystem::is_regular_file(model, error)) files.push_back(model);
  if (files.empty() && !std::filesystem::is_directory(model, error)) return "id:" + model;
  for (const auto& entry : std::filesystem::directory_iterator(model, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string content;
  for (const Path& file : files) {
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(file, error));
    content += fmt::format("{} {} {}\n", file.filename().string(), size, Sha256(Ends(file, size)));
  }
  return "sampled:" + Sha256(content);
}

}  // namespace assay::runner
