#pragma once

#include <string>

namespace assay::runner {

// What a model or tokenizer is, for a server that does not say so itself: of a folder or a file (GGUF) on
// this machine a hash over the names, the sizes and both ends of its files ("sampled:..."; whole files would
// take minutes), of anything else the text itself ("id:openai/gpt-oss-20b"). Two runs whose model is not
// known to be the same are never taken for the same.
std::string ModelIdentity(const std::string& model);

}  // namespace assay::runner
