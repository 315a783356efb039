#pragma once

#include <optional>
#include <string>

#include "base/result.h"

// Files of a web server by GET and PUT: libcurl as values and Results.
namespace assay::runner {

struct RemoteFile {
  std::string text;
  std::string etag;  // "" where the server gives none
};

enum class PutEnd { kWritten, kReplaced, kReadOnly };

class HttpFiles {
 public:
  // $ASSAY_STORE_TOKEN, if set, goes along as a bearer token.
  explicit HttpFiles(std::string base_url);

  // nullopt: the server has no such file.
  Result<std::optional<RemoteFile>> Get(const std::string& name) const;

  // kReplaced: it is another file by now than the one with `etag` (or there is one, where `etag` is absent).
  // Nothing is asked of a server that gives no ETags: `etag` is "" then.
  Result<PutEnd> Put(const std::string& name, const std::string& text,
                     const std::optional<std::string>& etag) const;

  // For messages: without user and password.
  const std::string& Name() const { return shown_; }

 private:
  std::string base_url_, shown_;
};

}  // namespace assay::runner
