#include "runner/store/http_files.h"

#include <curl/curl.h>

#include <cstdlib>
#include <memory>

#include "base/secrets.h"
#include "base/text.h"

namespace assay::runner {
namespace {

constexpr size_t kMaxBody = size_t{256} << 20;
constexpr long kConnectSeconds = 10, kSilentSeconds = 60, kMaxRedirects = 5;

struct Exchange {
  long status = 0;
  std::string body, etag;
  std::string_view upload;
};

size_t TakeBody(char* data, size_t size, size_t count, void* into) {
  auto* exchange = static_cast<Exchange*>(into);
  if (exchange->body.size() + size * count > kMaxBody) return 0;
  exchange->body.append(data, size * count);
  return size * count;
}

size_t TakeHeader(char* data, size_t size, size_t count, void* into) {
  const std::string_view line(data, size * count);
  constexpr std::string_view kEtag = "etag:";
  if (ToLower(line.substr(0, kEtag.size())) == kEtag)
    static_cast<Exchange*>(into)->etag = Trim(line.substr(kEtag.size()));
  if (StartsWith(line, "HTTP/")) static_cast<Exchange*>(into)->etag.clear();  // of a redirect
  return size * count;
}

size_t GiveBody(char* data, size_t size, size_t count, void* from) {
  auto* exchange = static_cast<Exchange*>(from);
  const size_t n = std::min(size * count, exchange->upload.size());
  exchange->upload.copy(data, n);
  exchange->upload.remove_prefix(n);
  return n;
}

using Handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

void AddHeader(Headers& headers, const std::string& line) {
  headers.reset(curl_slist_append(headers.release(), line.c_str()));
}

Handle NewHandle(const std::string& url, Exchange& exchange) {
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(once);
  Handle handle(curl_easy_init(), &curl_easy_cleanup);
  if (!handle) return handle;
  CURL* curl = handle.get();
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMaxRedirects);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &TakeBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &TakeHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &exchange);
  return handle;
}

Status Perform(const Handle& handle, Headers headers, const std::string& shown, Exchange& exchange) {
  if (const char* token = std::getenv("ASSAY_STORE_TOKEN"); token != nullptr && *token != '\0')
    AddHeader(headers, std::string("Authorization: Bearer ") + token);
  curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  const CURLcode code = curl_easy_perform(handle.get());
  if (code != CURLE_OK)
    return Fail(ErrorKind::kInfrastructure, "{}: {}", shown, HideUserInfo(curl_easy_strerror(code)));
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &exchange.status);
  return {};
}

tl::unexpected<Error> Refused(const std::string& shown, const char* method, long status) {
  if (status == 401 || status == 403) {
    return Fail(ErrorKind::kUsage,
                "{}: HTTP {} to {}: not allowed; $ASSAY_STORE_TOKEN is sent as a bearer token", shown, status,
                method);
  }
  return Fail(ErrorKind::kInfrastructure, "{}: HTTP {} to {}", shown, status, method);
}

}  // namespace

HttpFiles::HttpFiles(std::string base_url) : base_url_(std::move(base_url)) {
  while (base_url_.ends_with('/')) base_url_.pop_back();
  shown_ = HideUserInfo(base_url_);
}

Result<std::optional<RemoteFile>> HttpFiles::Get(const std::string& name) const {
  const std::string shown = shown_ + "/" + name;
  Exchange exchange;
  const Handle handle = NewHandle(base_url_ + "/" + name, exchange);
  RETURN_IF_ERROR(Perform(handle, Headers(nullptr, &curl_slist_free_all), shown, exchange));
  if (exchange.status == 404 || exchange.status == 410) return std::nullopt;
  if (exchange.status != 200) return Refused(shown, "GET", exchange.status);
  return RemoteFile{std::move(exchange.body), std::move(exchange.etag)};
}

Result<PutEnd> HttpFiles::Put(const std::string& name, const std::string& text,
                              const std::optional<std::string>& etag) const {
  const std::string shown = shown_ + "/" + name;
  Exchange exchange;
  exchange.upload = text;
  const Handle handle = NewHandle(base_url_ + "/" + name, exchange);
  curl_easy_setopt(handle.get(), CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_READFUNCTION, &GiveBody);
  curl_easy_setopt(handle.get(), CURLOPT_READDATA, &exchange);
  curl_easy_setopt(handle.get(), CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(text.size()));
  Headers headers(nullptr, &curl_slist_free_all);
  AddHeader(headers, "Content-Type: application/json");
  AddHeader(headers, "Expect:");  // servers that do not know it would be waited for
  if (etag && !etag->empty()) AddHeader(headers, "If-Match: " + *etag);
  if (!etag) AddHeader(headers, "If-None-Match: *");
  RETURN_IF_ERROR(Perform(handle, std::move(headers), shown, exchange));
  if (exchange.status == 412 || exchange.status == 409) return PutEnd::kReplaced;
  if (exchange.status == 404 || exchange.status == 405 || exchange.status == 501) return PutEnd::kReadOnly;
  if (exchange.status < 200 || exchange.status >= 300) return Refused(shown, "PUT", exchange.status);
  return PutEnd::kWritten;
}

}  // namespace assay::runner
