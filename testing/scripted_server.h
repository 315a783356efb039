#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

// An OpenAI-compatible server whose every answer is written down beforehand, with chosen timing and faults.
namespace assay::testing {

// One piece of a streamed answer: wait, then write these raw bytes.
struct ScriptedChunk {
  double after_ms = 0;
  std::string bytes;
};

struct ScriptedAnswer {
  int status = 200;
  std::string content_type = "text/event-stream";
  std::string body;                   // used when chunks is empty
  std::vector<ScriptedChunk> chunks;  // streamed with chunked transfer coding
  bool cut = false;                   // close the connection without the end of the body
  bool never_end = false;             // keep the connection open after the last chunk
};

struct ScriptedOptions {
  std::string model = "scripted";
  int port = 0;  // 0: any
  int health_status = 200;
  double token_interval_ms = 1;  // default answers: `tokens` chunks at this pace
  int tokens = 8;
  std::string answer = "Answer: A";  // content of default chat answers
  int die_after_requests = -1;       // exit the process (assay-scripted-server only) at request N
  int hang_after_requests = -1;      // from request N on: accept, send nothing
  int exit_code = 3;
};

// Serves on a thread of its own on 127.0.0.1 until destroyed. Queued answers are used first, one a POST, in
// order; then the default: chat and completions streams of `tokens` chunks with usage and [DONE]; /v1/models,
// /health.
class ScriptedServer {
 public:
  static Result<std::unique_ptr<ScriptedServer>> Start(const ScriptedOptions& options);
  virtual ~ScriptedServer() = default;
  virtual std::string BaseUrl() const = 0;
  virtual int Port() const = 0;
  virtual void Queue(ScriptedAnswer answer) = 0;
  virtual std::vector<std::string> RequestBodies() const = 0;  // of POSTs, in order of arrival
};

}  // namespace assay::testing
