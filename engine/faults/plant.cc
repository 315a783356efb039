// Which fault is planted: chosen once, before anything else runs. Empty in the ordinary program.
#include "base/planted_fault.h"

#ifdef ASSAY_FAULTS

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/text.h"

namespace assay {
namespace {

std::vector<const FaultInfo*> planted;
int64_t planted_number = 0;  // of the one that has an N

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const FaultInfo& fault : FaultTable()) names.emplace_back(fault.name);
  return names;
}

Status Plant(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const FaultInfo* fault = FindFault(name);
  if (fault == nullptr) {
    return Fail(ErrorKind::kUsage, "bad flag: --plant {}: no such fault; there are {}", name,
                Join(Names(), ", "));
  }
  const auto numbered = [](const FaultInfo* each) { return each->number != 0; };
  if (fault->number != 0 && std::any_of(planted.begin(), planted.end(), numbered))
    return Fail(ErrorKind::kUsage, "bad flag: --plant {}: only one of the planted faults may have an N",
                text);
  if (fault->number != 0) planted_number = fault->number;
  if (colon != std::string::npos) {
    const char *begin = text.data() + colon + 1, *end = text.data() + text.size();
    const auto [last, error] = std::from_chars(begin, end, planted_number);
    if (error != std::errc() || last != end || planted_number < 1 || fault->number == 0)
      return Fail(ErrorKind::kUsage, "bad flag: --plant {}: NAME, or NAME:N where the fault has an N", text);
  }
  planted.push_back(fault);
  fmt::print(stderr, "PLANTED FAULT {}: {} (N = {}). This is not an engine to use.\n", name, fault->what,
             fault->number == 0 ? 0 : planted_number);
  return {};
}

}  // namespace

bool Planted(Fault fault) {
  return std::any_of(planted.begin(), planted.end(),
                     [&](const FaultInfo* each) { return each->fault == fault; });
}

int64_t PlantedNumber() {
  return planted_number;
}

std::string PlantedVersion() {
  if (planted.empty()) return "+faulty";
  std::string version = "+planted";
  for (const FaultInfo* fault : planted) {
    version += fmt::format(":{}", fault->name);
    if (fault->number != 0) version += fmt::format(":{}", planted_number);
  }
  return version;
}

Status PlantFrom(std::vector<std::string>& arguments) {
  while (true) {
    const auto at = std::find(arguments.begin(), arguments.end(), "--plant");
    if (at == arguments.end()) return {};
    if (at + 1 == arguments.end())
      return Fail(ErrorKind::kUsage, "bad flag: --plant: needs a fault: {}", Join(Names(), ", "));
    const std::string text = *(at + 1);
    arguments.erase(at, at + 2);
    RETURN_IF_ERROR(Plant(text));
  }
}

}  // namespace assay

#endif
