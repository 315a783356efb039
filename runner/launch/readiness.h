#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "evals/http/client.h"

namespace assay::runner {

// What one question to a starting server brought.
struct ProbeAnswer {
  enum class State { kYes, kNotYet, kNever };
  State state = State::kNotYet;
  std::string kind;    // of the failure, when kNever
  std::string detail;  // what was asked and what came: "GET /health: HTTP 503"
};

// Asks a starting server, step by step, whether it is the one we want: healthy, listing the model, answering
// one real token. Health alone is not believed: servers say 200 with a broken engine, and for others' models.
class ReadinessProbe {
 public:
  // `give_up` is asked while an answer is awaited; true abandons the question.
  ReadinessProbe(std::string base_url, std::string model_id, std::function<bool()> give_up)
      : base_url_(std::move(base_url)), model_id_(std::move(model_id)), give_up_(std::move(give_up)) {}

  ProbeAnswer Health(const std::string& ready_path);
  ProbeAnswer Models();
  // One token by /v1/completions, or by /v1/chat/completions where that does not exist.
  ProbeAnswer Token();

 private:
  evals::HttpResult Ask(const std::string& path, const std::string& body, std::chrono::seconds limit);
  ProbeAnswer TokenFrom(const std::string& path, const std::string& body, bool* missing);

  const std::string base_url_, model_id_;
  const std::function<bool()> give_up_;
  const std::unique_ptr<evals::HttpClient> client_ = evals::NewCurlClient();
};

// The rules alone: what a server's answer says.
ProbeAnswer JudgeModelList(const std::string& body, const std::string& model_id);
ProbeAnswer JudgeToken(const std::string& path, const std::string& body, const std::string& model_id);

}  // namespace assay::runner
