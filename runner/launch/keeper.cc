#include "runner/launch/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/text.h"

namespace assay::runner {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
constexpr size_t kLongestLine = 65536;  // a longer one is no announcement
constexpr std::chrono::milliseconds kOutputWait{200};

void WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // a full disk must not end the run: the log is a help, not the result
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

std::optional<nlohmann::json> ParseAnnouncement(std::string_view line) {
  if (!StartsWith(Trim(line), "{")) return std::nullopt;
  nlohmann::json event = nlohmann::json::parse(line, nullptr, false);
  if (!event.is_object() || event.value("event", nlohmann::json()) != "ready") return std::nullopt;
  const nlohmann::json port = event.value("port", nlohmann::json());
  if (!port.is_number_integer() || port < 1 || port > 65535) return std::nullopt;
  return event;
}

Keeper::Keeper(const LaunchPlan& plan, std::vector<std::string> argv, std::map<std::string, std::string> env)
    : plan_(plan), argv_(std::move(argv)), env_(std::move(env)) {
  thread_ = std::thread([this] { Run(); });
}

Keeper::~Keeper() {
  if (wake_[1] >= 0) ::close(wake_[1]);
  thread_.join();
  for (const int fd : {output_, log_, wake_[0]})
    if (fd >= 0) ::close(fd);
}

nlohmann::json Keeper::Announcement() const {
  const std::lock_guard lock(mutex_);
  return announcement_;
}

void Keeper::WaitForOutput() {
  if (!plan_.announces_port) return;  // it writes into the log itself
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kOutputWait, [this] { return output_ended_; });
}

void Keeper::Run() {
  Result<pid_t> pid = Spawn();
  const bool started = pid.has_value();
  started_.set_value(std::move(pid));
  if (started) CopyOutput();
}

Result<pid_t> Keeper::Spawn() {
  const File log(std::fopen(plan_.log_file.c_str(), "ae"), &std::fclose);
  if (!log)
    return Fail(ErrorKind::kInfrastructure, "{}: cannot be written: {}", plan_.log_file.string(),
                std::strerror(errno));
  int ends[2] = {-1, -1};
  if (::pipe2(wake_, O_CLOEXEC) != 0 || (plan_.announces_port && ::pipe2(ends, O_CLOEXEC) != 0))
    return Fail(ErrorKind::kInfrastructure, "cannot make a pipe: {}", std::strerror(errno));
  output_ = ends[0];
  log_ = ::fcntl(::fileno(log.get()), F_DUPFD_CLOEXEC, 0);
  const File output(plan_.announces_port ? ::fdopen(ends[1], "w") : nullptr,
                    [](std::FILE* file) { return file != nullptr ? std::fclose(file) : 0; });
  ChildOptions options;
  options.argv = argv_;
  options.env = env_;
  options.out = output ? output.get() : log.get();
  options.err = log.get();
  return SpawnChild(options);
}

void Keeper::CopyOutput() {
  pollfd ready[2] = {{wake_[0], POLLIN, 0}, {output_, POLLIN, 0}};  // poll passes over an fd of -1
  for (;;) {
    if (::poll(ready, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (ready[1].revents != 0) {
      char bytes[16384];
      const ssize_t n = ::read(output_, bytes, sizeof bytes);
      if (n > 0) {
        WriteAll(log_, {bytes, static_cast<size_t>(n)});
        ReadLines({bytes, static_cast<size_t>(n)});
      } else if (n == 0 || errno != EINTR) {
        ready[1].fd = -1;
        const std::lock_guard lock(mutex_);
        output_ended_ = true;
        changed_.notify_all();
      }
    } else if (ready[0].revents != 0) {
      return;
    }
  }
}

void Keeper::ReadLines(std::string_view bytes) {
  for (const char c : bytes) {
    if (c != '\n') {
      if (line_.size() < kLongestLine) line_ += c;
      continue;
    }
    const auto announcement = ParseAnnouncement(line_);
    line_.clear();
    if (!announcement) continue;
    const std::lock_guard lock(mutex_);
    if (announcement_.is_null()) announcement_ = *announcement;
  }
}

}  // namespace assay::runner
