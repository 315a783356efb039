#include "engine/server/errors.h"

#include "base/text.h"

namespace assay::engine {
namespace {

const char* TypeOf(int status) {
  switch (status) {
    case 401:
      return "AuthenticationError";
    case 404:
      return "NotFoundError";
    case 405:
      return "MethodNotAllowedError";
    case 408:
      return "RequestTimeoutError";
    case 413:
      return "RequestTooLargeError";
    case 431:
      return "HeaderTooLargeError";
    case 500:
      return "InternalServerError";
    case 503:
      return "ServiceUnavailableError";
    default:
      return "BadRequestError";
  }
}

}  // namespace

wire::ErrorBody MakeError(int status, std::string message) {
  return {status, TypeOf(status), Printable(message)};
}

HttpResponse ErrorResponse(const wire::ErrorBody& error) {
  HttpResponse response;
  response.status = error.status;
  response.body = wire::JsonText(wire::ToJson(error));
  return response;
}

HttpResponse ErrorResponse(int status, std::string message) {
  return ErrorResponse(MakeError(status, std::move(message)));
}

}  // namespace assay::engine
