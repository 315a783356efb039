#include "engine/scheduler/fair_queue.h"

#include <algorithm>

#include "base/check.h"

namespace assay::engine {
namespace {

template <typename Requests, typename Match>
std::unique_ptr<ActiveRequest> Extract(Requests& requests, const Match& match) {
  const auto at = std::find_if(requests.begin(), requests.end(), match);
  if (at == requests.end()) return nullptr;
  std::unique_ptr<ActiveRequest> found = std::move(*at);
  requests.erase(at);
  return found;
}

template <typename Requests>
ActiveRequest* FirstOfAtMost(const Requests& requests, int64_t longest) {
  const auto at = std::find_if(requests.begin(), requests.end(),
                               [&](const auto& request) { return request->Length() <= longest; });
  return at == requests.end() ? nullptr : at->get();
}

}  // namespace

void FairQueue::Add(std::unique_ptr<ActiveRequest> request) {
  const std::string& name = request->request.client;
  auto client =
      std::find_if(clients_.begin(), clients_.end(), [&](const Client& c) { return c.name == name; });
  if (client == clients_.end()) client = clients_.insert(clients_.end(), Client{name, {}});
  client->requests.push_back(std::move(request));
}

void FairQueue::Return(std::unique_ptr<ActiveRequest> request) {
  const auto at = std::find_if(returned_.begin(), returned_.end(),
                               [&](const auto& other) { return other->id > request->id; });
  returned_.insert(at, std::move(request));
}

ActiveRequest* FairQueue::Next(int64_t longest) const {
  if (ActiveRequest* request = FirstOfAtMost(returned_, longest)) return request;
  for (const Client& client : clients_) {
    if (ActiveRequest* request = FirstOfAtMost(client.requests, longest)) return request;
  }
  return nullptr;
}

std::unique_ptr<ActiveRequest> FairQueue::Take(const ActiveRequest* request) {
  const auto same = [&](const auto& other) { return other.get() == request; };
  if (auto found = Extract(returned_, same)) return found;
  for (auto client = clients_.begin(); client != clients_.end(); ++client) {
    auto found = Extract(client->requests, same);
    if (!found) continue;
    if (client->requests.empty()) {
      clients_.erase(client);
    } else {
      clients_.splice(clients_.end(), clients_, client);
    }
    return found;
  }
  CHECK(false);
  return nullptr;
}

std::unique_ptr<ActiveRequest> FairQueue::Remove(uint64_t id) {
  const auto same = [&](const auto& other) { return other->id == id; };
  if (auto found = Extract(returned_, same)) return found;
  for (auto client = clients_.begin(); client != clients_.end(); ++client) {
    auto found = Extract(client->requests, same);
    if (!found) continue;
    if (client->requests.empty()) clients_.erase(client);
    return found;
  }
  return nullptr;
}

int64_t FairQueue::Size() const {
  size_t size = returned_.size();
  for (const Client& client : clients_) size += client.requests.size();
  return static_cast<int64_t>(size);
}

std::vector<uint64_t> FairQueue::Ids() const {
  std::vector<uint64_t> ids;
  for (const auto& request : returned_) ids.push_back(request->id);
  for (const Client& client : clients_) {
    for (const auto& request : client.requests) ids.push_back(request->id);
  }
  return ids;
}

}  // namespace assay::engine
