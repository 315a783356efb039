#pragma once

#include <memory>
#include <string>
#include <utility>

// A web server with files: GET and PUT with ETags on 127.0.0.1, for tests of what keeps records there.
namespace assay::testing {

struct FileServerOptions {
  bool may_put = true;
  bool with_etags = true;  // and the conditions of PUT are kept
  std::string token = {};  // not empty: the bearer token that is asked for
};

class FileServer {
 public:
  static std::unique_ptr<FileServer> Start(const FileServerOptions& options);
  virtual ~FileServer() = default;

  virtual std::string Url() const = 0;
  virtual std::string File(const std::string& name) const = 0;  // "" when there is none
  virtual void SetFile(const std::string& name, const std::string& content) = 0;
  virtual int Refused() const = 0;  // PUTs whose condition did not hold
};

}  // namespace assay::testing
