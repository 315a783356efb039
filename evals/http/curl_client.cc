#include <curl/curl.h>
#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "evals/http/client.h"
#include "evals/http/poller.h"
#include "evals/http/transfer.h"

namespace assay::evals {
namespace {

constexpr TimePoint kNever = TimePoint::max();

// libcurl's start-up, and as many files as this process may open: each request in flight holds one, and the
// usual soft limit is 1024.
void PrepareProcess() {
  static const bool prepared = [] {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
      files.rlim_cur = files.rlim_max;
      ::setrlimit(RLIMIT_NOFILE, &files);
    }
    return curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK;
  }();
  CHECK(prepared);
}

// libcurl tells us which sockets it waits for (OnSocket) and when it wants to be called next (OnTimer); a
// poll costs what is ready, not what is open.
class CurlClient final : public HttpClient {
 public:
  CurlClient() {
    PrepareProcess();
    multi_ = curl_multi_init();
    CHECK(multi_ != nullptr);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlClient::OnSocket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlClient::OnTimer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 16384L);  // connections kept for reuse
  }

  ~CurlClient() override {
    for (auto& [easy, transfer] : transfers_) {
      curl_multi_remove_handle(multi_, easy);
      curl_easy_cleanup(easy);
    }
    for (CURL* easy : spare_) curl_easy_cleanup(easy);
    curl_multi_cleanup(multi_);
  }

  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;

  void Start(HttpRequest request, OnBytes on_bytes, OnDone on_done) override {
    auto transfer = std::make_unique<Transfer>(std::move(request), std::move(on_bytes), std::move(on_done));
    if (inside_curl_)
      pending_.push_back(std::move(transfer));  // libcurl takes no new handle inside its callbacks
    else
      Add(std::move(transfer));
  }

  void Poll(std::chrono::microseconds wait) override {
    const TimePoint deadline = RealClock().Now() + wait;
    RunTimer();
    const bool progressed = FinishTransfers();
    poller_.Wait(progressed ? TimePoint::min() : std::min({deadline, timer_, next_idle_}),
                 [this](int socket, int ready) { Act(socket, ready); });
    RunTimer();
    ExpireIdle();
    while (FinishTransfers()) RunTimer();
  }

  size_t InFlight() const override { return transfers_.size() + pending_.size(); }

  void CancelAll(const std::string& error) override {
    if (inside_curl_) {
      cancel_ = error;
      return;
    }
    std::vector<std::unique_ptr<Transfer>> ended;
    while (!transfers_.empty()) {
      ended.push_back(TakeOut(transfers_.begin()->first));
      ended.back()->Cancel(error);
    }
    Deliver(ended);
  }

 private:
  static int OnSocket(CURL*, curl_socket_t socket, int what, void* self, void*) {
    static_cast<CurlClient*>(self)->poller_.Watch(socket, what);
    return 0;
  }

  static int OnTimer(CURLM*, long timeout_ms, void* self) {
    static_cast<CurlClient*>(self)->timer_ =
        timeout_ms < 0 ? kNever : RealClock().Now() + std::chrono::milliseconds(timeout_ms);
    return 0;
  }

  void Add(std::unique_ptr<Transfer> transfer) {
    CURL* easy = spare_.empty() ? curl_easy_init() : spare_.back();
    CHECK(easy != nullptr);
    if (!spare_.empty()) spare_.pop_back();
    transfer->Attach(easy);
    // libcurl looks for a connection to use again one by one; among thousands in use that is most of the
    // work.
    if (idle_connections_ == 0)
      curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    else
      --idle_connections_;
    next_idle_ = std::min(next_idle_, transfer->IdleDeadline());
    transfers_.emplace(easy, std::move(transfer));
    CHECK_EQ(static_cast<int>(curl_multi_add_handle(multi_, easy)), static_cast<int>(CURLM_OK));
  }

  void Act(int socket, int ready) {
    int running = 0;
    inside_curl_ = true;
    curl_multi_socket_action(multi_, socket, ready, &running);
    inside_curl_ = false;
    AfterCallbacks();
  }

  void RunTimer() {
    if (timer_ > RealClock().Now()) return;
    timer_ = kNever;
    Act(CURL_SOCKET_TIMEOUT, 0);
  }

  // What callbacks asked for while libcurl was running.
  void AfterCallbacks() {
    if (cancel_) CancelAll(*std::exchange(cancel_, std::nullopt));
    for (auto& transfer : std::exchange(pending_, {})) Add(std::move(transfer));
  }

  bool FinishTransfers() {
    std::vector<std::pair<CURL*, CURLcode>> done;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg == CURLMSG_DONE) done.emplace_back(message->easy_handle, message->data.result);
    }
    std::vector<std::unique_ptr<Transfer>> ended;
    for (const auto& [easy, code] : done) {
      transfers_.at(easy)->Complete(code);
      if (code == CURLE_OK) ++idle_connections_;
      ended.push_back(TakeOut(easy));
    }
    Deliver(ended);
    return !ended.empty();
  }

  void ExpireIdle() {
    const TimePoint now = RealClock().Now();
    if (now < next_idle_) return;
    next_idle_ = kNever;
    std::vector<CURL*> idle;
    for (const auto& [easy, transfer] : transfers_) {
      if (transfer->IdleDeadline() <= now)
        idle.push_back(easy);
      else
        next_idle_ = std::min(next_idle_, transfer->IdleDeadline());
    }
    std::vector<std::unique_ptr<Transfer>> ended;
    for (CURL* easy : idle) {
      ended.push_back(TakeOut(easy));
      ended.back()->Expire();
    }
    Deliver(ended);
  }

  std::unique_ptr<Transfer> TakeOut(CURL* easy) {
    auto entry = transfers_.extract(easy);
    curl_multi_remove_handle(multi_, easy);
    curl_easy_reset(easy);
    spare_.push_back(easy);
    return std::move(entry.mapped());
  }

  // Owners are told when all that ended together is out: they may start or cancel others.
  static void Deliver(const std::vector<std::unique_ptr<Transfer>>& ended) {
    for (const auto& transfer : ended) transfer->Deliver();
  }

  CURLM* multi_ = nullptr;
  Poller poller_;
  TimePoint timer_ = kNever;      // when libcurl wants to run
  TimePoint next_idle_ = kNever;  // no transfer can be idle for too long before this
  size_t idle_connections_ = 0;   // at most; the server may have closed some
  bool inside_curl_ = false;
  std::unordered_map<CURL*, std::unique_ptr<Transfer>> transfers_;
  std::vector<std::unique_ptr<Transfer>> pending_;
  std::optional<std::string> cancel_;
  std::vector<CURL*> spare_;
};

}  // namespace

std::unique_ptr<HttpClient> NewCurlClient() {
  return std::make_unique<CurlClient>();
}

HttpResult Fetch(const HttpRequest& request) {
  CurlClient client;
  HttpResult result;
  client.Start(request, {}, [&](HttpResult done) { result = std::move(done); });
  while (client.InFlight() > 0) client.Poll(std::chrono::milliseconds(100));
  return result;
}

}  // namespace assay::evals
