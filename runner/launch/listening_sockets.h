#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::runner {

// A TCP socket that listens, from /proc/net/tcp or tcp6.
struct Listener {
  enum class Address { kLoopback, kAnyV4, kAnyV6, kOther };
  Address address = Address::kOther;
  int port = 0;
  uint64_t inode = 0;
};

std::vector<Listener> ParseListeners(std::string_view table);

// Inodes of the sockets that get a connection to 127.0.0.1:port: those bound to that very address, else those
// bound to all. Several when they share the port (SO_REUSEPORT).
std::set<uint64_t> ListenersOn(int port);
std::set<uint64_t> MostSpecific(const std::vector<Listener>& listeners, int port);

// Inodes of all sockets that these processes have open.
std::set<uint64_t> SocketsOf(const std::vector<pid_t>& pids);

// A port that nobody uses now. Somebody may take it before the server does: that is found out by who listens.
Result<int> FreePort();

}  // namespace assay::runner
