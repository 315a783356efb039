#include <assay_version.h>

#include "engine/server/errors.h"
#include "engine/server/jobs.h"

namespace assay::engine {

void Models(Backstage& backstage, const HttpRequest&, const Reply& reply) {
  RespondJson(*reply, wire::ModelListJson({{backstage.options.model_name, backstage.rules.max_model_len}},
                                          backstage.options.created));
}

void Health(Backstage& backstage, const HttpRequest&, const Reply& reply) {
  if (backstage.stopping) return reply->Respond(ErrorResponse(503, "the engine is stopping"));
  const double stalled = backstage.scheduler.StalledSeconds();
  if (stalled > backstage.options.stall_seconds) {
    const std::string reason =
        fmt::format("generation has stalled: requests wait and no step was made for {:.1f} s", stalled);
    return reply->Respond(ErrorResponse(503, reason));
  }
  reply->Respond({});
}

void Version(Backstage&, const HttpRequest&, const Reply& reply) {
  RespondJson(*reply, {{"version", ASSAY_VERSION}, {"commit", ASSAY_COMMIT}});
}

void ShowMetrics(Backstage& backstage, const HttpRequest&, const Reply& reply) {
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = backstage.metrics.Text(backstage.scheduler.Stats());
  reply->Respond(response);
}

void ResetPrefixCache(Backstage& backstage, const HttpRequest&, const Reply& reply) {
  if (backstage.scheduler.ResetPrefixCache()) return reply->Respond({});
  reply->Respond(ErrorResponse(503, "requests are under way; try again when they have ended"));
}

}  // namespace assay::engine
