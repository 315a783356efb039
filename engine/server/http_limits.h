#pragma once

#include <chrono>
#include <cstddef>

namespace assay::engine {

// What a client may hold of us, so that floods and slow clients cannot take memory without bound.
struct HttpLimits {
  size_t connections = 4096;
  size_t header_bytes = 16 * 1024;
  size_t body_bytes = 4 << 20;
  size_t all_bodies_bytes = 256 << 20;               // bodies being received, all connections together
  size_t unsent_bytes = 64 << 10;                    // of one answer, beyond which its tokens share chunks
  std::chrono::milliseconds idle_timeout{75'000};    // between requests of a connection
  std::chrono::milliseconds header_timeout{10'000};  // from the first byte of a request, or from accept
  std::chrono::milliseconds body_timeout{60'000};
  std::chrono::milliseconds write_timeout{30'000};  // without a byte taken
  std::chrono::milliseconds linger_timeout{2'000};  // for reading what a refused client still sends
};

}  // namespace assay::engine
