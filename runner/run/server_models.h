#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace assay::runner {

// What a server that runs already says it has. Some say nothing: no name then.
struct ModelList {
  std::string url;  // as asked, without what it hides
  int status = 0;   // HTTP
  std::vector<std::string> names;
};
// kInfrastructure when nobody answers, kUsage when a key is wanted. `base_url` has no /v1 at its end.
Result<ModelList> ListModels(const std::string& base_url, const std::string& api_key);

// OpenAI's clients are given an address that ends in /v1, and so are we.
std::string WithoutV1(std::string url);

}  // namespace assay::runner
