#include "runner/run/server_models.h"

#include "base/secrets.h"
#include "evals/http/client.h"
#include "evals/http/request.h"
#include "wire/chat.h"

namespace assay::runner {

std::string WithoutV1(std::string url) {
  while (!url.empty() && url.back() == '/') url.pop_back();
  if (url.ends_with("/v1")) url.resize(url.size() - 3);
  return url;
}

Result<ModelList> ListModels(const std::string& base_url, const std::string& api_key) {
  evals::HttpRequest request;
  request.url = evals::JoinUrl(base_url, "/v1/models");
  request.total_timeout = std::chrono::seconds(30);
  if (!api_key.empty()) request.headers.push_back("Authorization: Bearer " + api_key);
  const evals::HttpResult result = evals::Fetch(request);
  if (!result.error.empty())
    return Fail(ErrorKind::kInfrastructure, "{}: {}", HideUserInfo(base_url), result.error);
  ModelList list{HideUserInfo(request.url), static_cast<int>(result.status), {}};
  if (result.status == 401 || result.status == 403) {
    return Fail(ErrorKind::kUsage, "{}: HTTP {}: {}; set ASSAY_API_KEY or OPENAI_API_KEY", list.url,
                result.status, wire::ErrorMessage(result.body));
  }
  const auto models = wire::ParseModelList(result.body);
  if (result.ok() && models)
    for (const wire::ModelCard& card : *models) list.names.push_back(card.id);
  return list;
}

}  // namespace assay::runner
