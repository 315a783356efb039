#include "reports/load_text.h"

namespace assay::reports {
namespace {

// What an imported result leaves open is left out.
std::string StatedLoad(const Say& say, const record::ServingRecord& serving) {
  std::string load = say("figures of {}", serving.source);
  if (serving.stated && serving.stated->completed > 0)
    load += say(", {} requests completed and {} failed", serving.stated->completed, serving.stated->failed);
  if (serving.stated && serving.stated->mean_output_tokens > 0)
    load += say(", {:.1f} tokens an answer", serving.stated->mean_output_tokens);
  if (serving.mean_in_flight > 0) load += say(", {:.1f} requests in flight", serving.mean_in_flight);
  return load;
}

}  // namespace

std::string LoadText(const Say& say, const record::ServingRecord& serving) {
  if (!serving.source.empty()) return StatedLoad(say, serving);
  std::string load =
      serving.request_rate > 0 ? say("{:g} requests/s", serving.request_rate) : say("all at once");
  if (serving.max_concurrency && serving.request_rate > 0) {
    load = say("{}, at most {} in flight", load, *serving.max_concurrency);
  } else if (serving.max_concurrency) {
    load = say("{} in flight", *serving.max_concurrency);
  }
  return say("{} requests of {} in / {} out tokens, {}, {} warm-up, {:.1f} s, client at {:.0f} % of a core",
             serving.num_prompts, serving.input_len, serving.output_len, load, serving.warmups,
             serving.duration_s, serving.client_cpu_share * 100);
}

}  // namespace assay::reports
