#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

// A server process that costs next to nothing: it answers every POST with the same stream, so that what is
// measured against it is the client.
namespace assay::testing {

struct NullServerOptions {
  int64_t streams = 1;      // paced: nothing is sent before so many requests have come
  int64_t chunks = 1000;    // of each stream
  double chunks_per_s = 0;  // of all streams together; 0: as fast as they are read
};

// Each event is an HTTP chunk of its own, as Python servers send them. The text of a paced event is its send
// time: nanoseconds of the steady clock in kStampDigits digits.
class NullServer {
 public:
  static constexpr int kStampDigits = 19;

  explicit NullServer(const NullServerOptions& options);
  ~NullServer();  // kills the process
  NullServer(const NullServer&) = delete;
  NullServer& operator=(const NullServer&) = delete;

  std::string BaseUrl() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  int port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace assay::testing
