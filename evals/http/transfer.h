#pragma once

#include <curl/curl.h>

#include <array>

#include "evals/http/client.h"

namespace assay::evals {

// One request on its way through a libcurl handle: its options, its bytes, its end in words.
class Transfer {
 public:
  Transfer(HttpRequest request, HttpClient::OnBytes on_bytes, HttpClient::OnDone on_done);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Sets every option of the request; the transfer outlives its use of the handle.
  void Attach(CURL* easy);
  TimePoint IdleDeadline() const { return last_byte_ + request_.idle_timeout; }

  // How it ended: by libcurl, for want of bytes, or by us. Then its owner is told.
  void Complete(CURLcode code);
  void Expire();
  void Cancel(const std::string& error) { result_.error = error; }
  void Deliver();

 private:
  static size_t OnWrite(char* bytes, size_t size, size_t count, void* self);
  bool Take(std::string_view bytes, TimePoint arrived);
  std::string Words(CURLcode code) const;

  HttpRequest request_;
  HttpClient::OnBytes on_bytes_;
  HttpClient::OnDone on_done_;
  HttpResult result_;
  CURL* easy_ = nullptr;
  curl_slist* headers_ = nullptr;
  TimePoint last_byte_{};
  std::array<char, CURL_ERROR_SIZE> detail_{};
};

}  // namespace assay::evals
