#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "runner/launch/server.h"

namespace assay::runner {

// A server that somebody else started and will stop. Its process is not ours to watch: that it lives is asked
// when a run begins, and a run during which it ends has failed requests.
class RunningServer final : public Server {
 public:
  // Asks for the list of models; an Error where nobody answers or it has another model.
  static Result<std::unique_ptr<RunningServer>> Connect(const std::string& base_url, const std::string& model,
                                                        const std::string& api_key);

  const std::string& BaseUrl() const override { return base_url_; }
  int Port() const override { return 0; }
  std::vector<std::string> Argv() const override { return {}; }
  const nlohmann::json& Announcement() const override { return nothing_; }
  std::optional<record::ServerFailure> Died(const std::string&) override { return std::nullopt; }
  std::vector<std::string> Stop() override { return {}; }
  void Kill() override {}

 private:
  explicit RunningServer(std::string base_url) : base_url_(std::move(base_url)) {}

  std::string base_url_;
  nlohmann::json nothing_;
};

}  // namespace assay::runner
