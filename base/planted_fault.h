#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Faults that have hurt serving engines, planted on purpose so that `assay selftest` sees whether the gate
// notices. Sources that consult this header are compiled a second time, with ASSAY_FAULTS, for the program
// assay-engine-faulty. Everywhere else nothing is ever planted, and the compiler drops what would follow from
// it.
namespace assay {

enum class Fault {
  kNone,
  kRoutingBit31,
  kUncheckedBit31,
  kPaddingNan,
  kSwappedMxScales,
  kDroppedSinks,
  kWindowOffByOne,
  kRopeTruncation,
  kMissingExpertBias,
  kTop3,
  kNoSwigluLimit,
  kPrefixCollision,
  kKvReuse,
  kStopIgnored,
  kSeedIgnored,
  kSlowStep,
  kSlowTtft,
  kStall,
  kLeak,
  kCrash,
  kHang,
  kTruncation,
  kStreamError,
  kWrongModel,
};

// One fault as --plant and the selftest name it.
struct FaultInfo {
  Fault fault;
  std::string_view name;
  std::string_view what;  // it does
  int64_t number = 0;     // its N unless --plant NAME:N says another; 0: it has none
};
std::span<const FaultInfo> FaultTable();
const FaultInfo* FindFault(std::string_view name);  // null: none of that name

#ifdef ASSAY_FAULTS
inline constexpr bool kFaultsCompiledIn = true;
bool Planted(Fault fault);
int64_t PlantedNumber();
std::string PlantedVersion();  // "+planted:crash:100", so that nobody takes this program for another
// Takes each --plant NAME[:N] out of a command line; at most one of them may have an N.
Status PlantFrom(std::vector<std::string>& arguments);
#else
inline constexpr bool kFaultsCompiledIn = false;
constexpr bool Planted(Fault) {
  return false;
}
constexpr int64_t PlantedNumber() {
  return 1;
}
inline std::string_view PlantedVersion() {
  return "";
}
inline Status PlantFrom(std::vector<std::string>&) {
  return {};
}
#endif

}  // namespace assay
