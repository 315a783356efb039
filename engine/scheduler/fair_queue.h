#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "engine/scheduler/active_request.h"

namespace assay::engine {

// Requests that wait for a seat. Clients take turns, one request a turn; within a client the first come is
// the first served. What was set back goes before all.
class FairQueue {
 public:
  void Add(std::unique_ptr<ActiveRequest> request);
  void Return(std::unique_ptr<ActiveRequest> request);
  // The request whose turn it is among those of at most `longest` tokens; null: there is none.
  ActiveRequest* Next(int64_t longest) const;
  // Takes what Next has given; its client's next turn comes after those of all others.
  std::unique_ptr<ActiveRequest> Take(const ActiveRequest* request);
  std::unique_ptr<ActiveRequest> Remove(uint64_t id);

  int64_t Size() const;
  std::vector<uint64_t> Ids() const;

 private:
  using Requests = std::deque<std::unique_ptr<ActiveRequest>>;
  struct Client {
    std::string name;
    Requests requests;  // never empty
  };

  Requests returned_;          // in order of arrival
  std::list<Client> clients_;  // in order of turns
};

}  // namespace assay::engine
