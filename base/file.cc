#include "base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/text.h"

namespace assay {

Result<std::string> ReadFile(const Path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return Fail(ErrorKind::kUsage, "{}: is a folder, a file is needed", path.string());
  }
  // A pipe or a device would be read for ever.
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    return Fail(ErrorKind::kUsage, "{}: is no regular file", path.string());
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return Fail(ErrorKind::kUsage, "{}: cannot be read: {}", path.string(), std::strerror(errno));
  std::ostringstream content;
  content << in.rdbuf();
  if (in.bad()) return Fail(ErrorKind::kInfrastructure, "{}: reading failed", path.string());
  return std::move(content).str();
}

Status WriteFileAtomic(const Path& path, std::string_view content) {
  const Path temporary = path.string() + fmt::format(".tmp{}", ::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) {
    return Fail(ErrorKind::kInfrastructure, "{}: cannot be written: {}", path.string(), std::strerror(errno));
  }
  bool ok = true;
  for (size_t done = 0; ok && done < content.size();) {
    const ssize_t n = ::write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    ok = n > 0;
    done += ok ? static_cast<size_t>(n) : 0;
  }
  ok = ok && ::fsync(fd) == 0;
  ok = (::close(fd) == 0) && ok;
  if (!ok || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return Fail(ErrorKind::kInfrastructure, "{}: cannot be written: {}", path.string(), std::strerror(error));
  }
  return {};
}

Status MakeFolders(const Path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return Fail(ErrorKind::kInfrastructure, "{}: cannot be made: {}", path.string(), error.message());
  }
  return {};
}

std::vector<std::string> TailLines(const Path& path, size_t max_lines, size_t max_bytes) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const auto size = static_cast<size_t>(in.tellg());
  const size_t start = size > max_bytes ? size - max_bytes : 0;
  std::string text(size - start, '\0');
  in.seekg(static_cast<std::streamoff>(start));
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  std::vector<std::string> lines = SplitLines(text);
  if (start > 0 && !lines.empty()) lines.erase(lines.begin());  // most likely half a line
  if (lines.size() > max_lines) lines.erase(lines.begin(), lines.end() - static_cast<long>(max_lines));
  return lines;
}

}  // namespace assay
