#include "evals/http/transfer.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/secrets.h"
#include "base/text.h"

namespace assay::evals {
namespace {

constexpr size_t kErrorBodyLimit = size_t{64} << 10;
constexpr size_t kBodyLimit = size_t{64} << 20;

// Servers that are started while a request is open must not inherit its socket.
int CloseOnExec(void*, curl_socket_t socket, curlsocktype) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  return CURL_SOCKOPT_OK;
}

std::string HostOf(const std::string& url) {
  CURLU* parsed = curl_url();
  char* host = nullptr;
  std::string name;
  if (curl_url_set(parsed, CURLUPART_URL, url.c_str(), 0) == CURLUE_OK &&
      curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
    name = host;
  }
  curl_free(host);
  curl_url_cleanup(parsed);
  return name;
}

bool IsLoopback(const std::string& host) {
  return host == "localhost" || StartsWith(host, "127.") || host == "[::1]";
}

}  // namespace

Transfer::Transfer(HttpRequest request, HttpClient::OnBytes on_bytes, HttpClient::OnDone on_done)
    : request_(std::move(request)), on_bytes_(std::move(on_bytes)), on_done_(std::move(on_done)) {}

Transfer::~Transfer() {
  curl_slist_free_all(headers_);
}

void Transfer::Attach(CURL* easy) {
  easy_ = easy;
  for (const std::string& header : request_.headers) headers_ = curl_slist_append(headers_, header.c_str());
  if (!request_.body.empty()) {
    headers_ = curl_slist_append(headers_, "Content-Type: application/json");
    headers_ = curl_slist_append(headers_, "Expect:");  // no pause before a large body
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request_.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  }
  curl_easy_setopt(easy, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "assay");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, request_.follow_redirects ? 1L : 0L);
  curl_easy_setopt(easy, CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  if (IsLoopback(HostOf(request_.url))) curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.connect_timeout.count()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request_.total_timeout.count()));
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, &CloseOnExec);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Transfer::OnWrite);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, detail_.data());
  result_.sent = last_byte_ = RealClock().Now();
}

size_t Transfer::OnWrite(char* bytes, size_t size, size_t count, void* self) {
  const TimePoint arrived = RealClock().Now();  // before anyone reads them
  return static_cast<Transfer*>(self)->Take({bytes, size * count}, arrived) ? size * count : 0;
}

bool Transfer::Take(std::string_view bytes, TimePoint arrived) {
  last_byte_ = arrived;
  if (result_.status == 0) {
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    result_.status = static_cast<int>(status);
  }
  const bool success = result_.status >= 200 && result_.status < 300;
  if (success && on_bytes_) return on_bytes_(bytes, arrived);
  const size_t limit = success ? kBodyLimit : kErrorBodyLimit;
  const size_t room = limit - result_.body.size();
  result_.body.append(bytes.substr(0, room));
  return bytes.size() <= room || !success;  // the rest of an error's body is dropped
}

std::string Transfer::Words(CURLcode code) const {
  switch (code) {
    case CURLE_COULDNT_CONNECT: {
      long os_error = 0;
      curl_easy_getinfo(easy_, CURLINFO_OS_ERRNO, &os_error);
      const char* why = os_error != 0 ? std::strerror(static_cast<int>(os_error)) : detail_.data();
      return fmt::format("cannot connect to {}: {}", HideUserInfo(request_.url), why);
    }
    case CURLE_OPERATION_TIMEDOUT: {
      curl_off_t connected_us = 0;
      curl_easy_getinfo(easy_, CURLINFO_CONNECT_TIME_T, &connected_us);
      if (connected_us == 0) {
        return fmt::format("no connection to {} within {} ms", HideUserInfo(request_.url),
                           request_.connect_timeout.count());
      }
      return fmt::format("not finished within {:g} s (request timeout)",
                         static_cast<double>(request_.total_timeout.count()) / 1000);
    }
    case CURLE_GOT_NOTHING:
      return "the server closed the connection without an answer";
    case CURLE_PARTIAL_FILE:
      return fmt::format("the answer was cut: {}", detail_.data());
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return fmt::format("the connection was lost: {}", detail_.data());
    case CURLE_WRITE_ERROR:
      return on_bytes_ ? "its reader wanted no more of the answer"
                       : fmt::format("the answer is larger than {} MiB", kBodyLimit >> 20);
    default:
      return detail_[0] != '\0' ? detail_.data() : curl_easy_strerror(code);
  }
}

void Transfer::Complete(CURLcode code) {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  result_.status = static_cast<int>(status);
  result_.timed_out = code == CURLE_OPERATION_TIMEDOUT;
  if (code != CURLE_OK) result_.error = Words(code);
}

void Transfer::Expire() {
  result_.timed_out = true;
  result_.error = fmt::format("no byte for {:g} s (idle timeout)",
                              static_cast<double>(request_.idle_timeout.count()) / 1000);
}

void Transfer::Deliver() {
  result_.finished = RealClock().Now();
  if (on_done_) on_done_(std::move(result_));
}

}  // namespace assay::evals
