#include "runner/run/repository_url.h"

#include "base/secrets.h"
#include "base/text.h"

namespace assay::runner {
namespace {

bool IsSsh(std::string_view url) {
  const std::string scheme = ToLower(url.substr(0, url.find("://")));
  return scheme == "ssh" || scheme == "git+ssh" || scheme == "ssh+git";
}

std::string_view Authority(std::string_view after_scheme) {
  return after_scheme.substr(0, after_scheme.find('/'));
}

std::string_view WithoutUser(std::string_view authority) {
  const size_t at = authority.rfind('@');
  return at == std::string_view::npos ? authority : authority.substr(at + 1);
}

// "host:443" and "[::1]:443" as the host.
std::string_view WithoutPort(std::string_view host) {
  const size_t colon = host.rfind(':');
  const size_t bracket = host.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) return host;
  return host.substr(0, colon);
}

std::string Place(std::string_view host, std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.ends_with(".git")) path.remove_suffix(4);
  while (path.ends_with('/')) path.remove_suffix(1);
  while (path.starts_with('/')) path.remove_prefix(1);
  return ToLower(host) + "/" + std::string(path);
}

}  // namespace

std::string WithoutCredentials(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  const std::string_view authority = Authority(url.substr(scheme + 3));
  const std::string_view user = authority.substr(0, authority.size() - WithoutUser(authority).size());
  if (IsSsh(url) && user.find(':') == std::string_view::npos) return std::string(url);
  return HideUserInfo(url);
}

std::string RepositoryPlace(std::string_view url) {
  url = Trim(url);
  if (const size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
    const std::string_view authority = Authority(url);
    return Place(WithoutPort(WithoutUser(authority)), url.substr(authority.size()));
  }
  // git@host:path; a colon behind a slash is part of a folder's name
  const size_t colon = url.find(':');
  if (colon == std::string_view::npos || url.find('/') < colon) return Place("", url);
  return Place(WithoutUser(url.substr(0, colon)), url.substr(colon + 1));
}

}  // namespace assay::runner
