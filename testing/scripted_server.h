#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

// An OpenAI-compatible server whose every answer is written down beforehand, with chosen timing and faults.
namespace assay::testing {

// One piece of a streamed answer: wait, then write these raw bytes.
struct ScriptedChunk {
  double after_ms = 0;
  std::string bytes = {};
};

struct ScriptedAnswer {
  int status = 200;
  std::string content_type = "text/event-stream";
  std::string body = {};                   // used when chunks is empty
  std::vector<ScriptedChunk> chunks = {};  // streamed with chunked transfer coding
  bool cut = false;                        // close the connection without the end of the body
  bool never_end = false;                  // keep the connection open after the last chunk
  bool reset = false;                      // with cut: by RST
};

struct ScriptedOptions {
  std::string model = "scripted";
  std::string answer_model = {};  // the model that answers name; "" is `model`
  int port = 0;                   // 0: any
  int health_status = 200;
  int unhealthy_answers = 0;         // so many /health requests are answered 503 first
  double token_interval_ms = 1;      // default answers: `tokens` chunks at this pace
  int tokens = 8;                    // max_tokens cuts it; with ignore_eos it is exactly max_tokens
  std::string answer = "Answer: A";  // content of default chat answers, spread over the tokens
  // A POST is counted when it arrives; the launcher's readiness probe is one too.
  int die_after_requests = -1;   // N POSTs are answered, the next one ends the process
  int die_after_chunks = -1;     // the process ends when N chunks were streamed, over all requests
  int hang_after_requests = -1;  // N POSTs are answered, later ones accepted and never answered
  int exit_code = 3;
  int die_signal = 0;  // not 0: the process raises this signal in place of exit_code
  std::optional<ScriptedAnswer> get_answer = {};  // of every GET, in place of /health and /v1/models
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
