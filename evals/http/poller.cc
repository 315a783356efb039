#include "evals/http/poller.h"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "base/check.h"

namespace assay::evals {
namespace {

constexpr int kEventsAtOnce = 256;

// In nanoseconds where the kernel can (5.11), else in whole milliseconds, rounded up.
int EpollWait(int epoll, epoll_event* events, Nanoseconds timeout) {
  static bool fine = true;
  if (fine) {
    timespec spec{};
    spec.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000);
    spec.tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000);
    const int count = ::epoll_pwait2(epoll, events, kEventsAtOnce, &spec, nullptr);
    if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
    fine = false;
  }
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(timeout);
  return ::epoll_wait(epoll, events, kEventsAtOnce, static_cast<int>(milliseconds.count()));
}

}  // namespace

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  CHECK_GE(epoll_, 0);
}

Poller::~Poller() {
  ::close(epoll_);
}

void Poller::Watch(int socket, int what) {
  epoll_event event{};
  event.data.fd = socket;
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, &event);
    return;
  }
  if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  if (::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event) != 0 && errno == ENOENT) {
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event);
  }
}

void Poller::Wait(TimePoint until, const std::function<void(int, int)>& visit) {
  const Nanoseconds longest = std::chrono::hours(1);
  const TimePoint now = RealClock().Now();
  const Nanoseconds timeout = until <= now ? Nanoseconds(0) : std::min<Nanoseconds>(until - now, longest);
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = EpollWait(epoll_, events.data(), timeout);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    int ready = 0;
    if ((event.events & EPOLLIN) != 0) ready |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) ready |= CURL_CSELECT_OUT;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) ready |= CURL_CSELECT_ERR;
    visit(event.data.fd, ready);
  }
}

}  // namespace assay::evals
