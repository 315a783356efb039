#include "runner/launch/listening_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>

#include "base/file.h"
#include "base/text.h"

namespace assay::runner {
namespace {

constexpr char kListening[] = "0A";  // TCP_LISTEN

// Addresses are the bytes of the network order printed as native 32-bit words.
Listener::Address ReadAddress(const std::string& hex) {
  if (hex == "0100007F" || hex == "0000000000000000FFFF00000100007F") return Listener::Address::kLoopback;
  if (hex == "00000000") return Listener::Address::kAnyV4;
  if (hex == std::string(32, '0')) return Listener::Address::kAnyV6;
  return Listener::Address::kOther;
}

}  // namespace

std::vector<Listener> ParseListeners(std::string_view table) {
  std::vector<Listener> listeners;
  for (const std::string& line : SplitLines(table)) {
    // sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
    std::istringstream fields(line);
    std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout;
    Listener listener;
    fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >>
        listener.inode;
    const size_t colon = local.find(':');
    if (!fields || state != kListening || colon == std::string::npos) continue;
    listener.address = ReadAddress(local.substr(0, colon));
    listener.port = static_cast<int>(std::strtol(local.c_str() + colon + 1, nullptr, 16));
    listeners.push_back(listener);
  }
  return listeners;
}

std::set<uint64_t> MostSpecific(const std::vector<Listener>& listeners, int port) {
  using Address = Listener::Address;
  for (const Address address : {Address::kLoopback, Address::kAnyV4, Address::kAnyV6}) {
    std::set<uint64_t> inodes;
    for (const Listener& listener : listeners)
      if (listener.port == port && listener.address == address) inodes.insert(listener.inode);
    if (!inodes.empty()) return inodes;
  }
  return {};
}

std::set<uint64_t> ListenersOn(int port) {
  std::vector<Listener> listeners;
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto table = ReadFile(file);
    if (!table) continue;
    for (const Listener& listener : ParseListeners(*table)) listeners.push_back(listener);
  }
  return MostSpecific(listeners, port);
}

std::set<uint64_t> SocketsOf(const std::vector<pid_t>& pids) {
  std::set<uint64_t> inodes;
  for (const pid_t pid : pids) {
    std::error_code ended;
    for (std::filesystem::directory_iterator entry("/proc/" + std::to_string(pid) + "/fd", ended), last;
         !ended && entry != last; entry.increment(ended)) {
      std::error_code closed;
      const std::string target = std::filesystem::read_symlink(entry->path(), closed).string();
      if (StartsWith(target, "socket:[")) inodes.insert(std::strtoull(target.c_str() + 8, nullptr, 10));
    }
  }
  return inodes;
}

Result<int> FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = fd >= 0 && ::bind(fd, generic, size) == 0 && ::getsockname(fd, generic, &size) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!bound) return Fail(ErrorKind::kInfrastructure, "no free port on 127.0.0.1: {}", std::strerror(error));
  return ntohs(address.sin_port);
}

}  // namespace assay::runner
