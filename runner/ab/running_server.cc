#include "runner/ab/running_server.h"

#include <algorithm>

#include "base/secrets.h"
#include "base/text.h"
#include "runner/run/server_models.h"

namespace assay::runner {

Result<std::unique_ptr<RunningServer>> RunningServer::Connect(const std::string& base_url,
                                                              const std::string& model,
                                                              const std::string& api_key) {
  const std::string address = WithoutV1(base_url);
  ASSIGN_OR_RETURN(const ModelList listed, ListModels(address, api_key));
  const bool has_it = std::find(listed.names.begin(), listed.names.end(), model) != listed.names.end();
  // A server without a list is taken at its word.
  if (has_it || listed.names.empty()) return std::unique_ptr<RunningServer>(new RunningServer(address));
  return Fail(ErrorKind::kUsage, "{}: has {}, and the config asks for {}; write engine.model_id",
              HideUserInfo(address), Join(listed.names, ", "), model);
}

}  // namespace assay::runner
