#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "record/run_record.h"

namespace assay::runner {

struct Gpu {
  std::string hardware;  // h200 | gfx950 ...; for one without a row in hardware_names.cc what it calls itself
  std::string name;      // "NVIDIA H200"
  std::string driver;
  int64_t memory_mb = 0;
  std::string clocks = {}, ecc = {}, firmware = {};  // "" where the driver does not say
  bool operator==(const Gpu&) const = default;
};

// What this machine is, found without GPU libraries.
struct Machine {
  std::string cpu;
  int cores = 0;  // that this process may use
  int64_t memory_mb = 0;
  std::string os, kernel;
  std::string host;                             // hash of the machine id; "" when there is none
  std::string clocks;                           // of the CPU: governor, highest clock, boost
  std::map<std::string, std::string> versions;  // of runtimes installed on the system: cuda, rocm, libc
  std::vector<Gpu> gpus;
  std::vector<std::string> notes;  // what could not be found out, and why
};

// The machine as files and one program; tests give their own.
struct Probe {
  Path root = "/";  // of proc, sys and etc
  // Standard output of a program that ended well within the time limit, else why not.
  std::function<Result<std::string>(const std::vector<std::string>& argv)> run;

  static Probe OfThisMachine();
};

Machine DetectMachine(const Probe& probe);

// By vendor; a machine without such GPUs gives none. `notes` gets what stands in the way.
std::vector<Gpu> DetectNvidia(const Probe& probe, std::vector<std::string>& notes);
// [GPUs][fields] of nvidia-smi --query-gpu, all numbers; empty unless every GPU says all of them. `devices`
// as its -i takes them: "0,1"; "" for all.
std::vector<std::vector<double>> NvidiaNumbers(const Probe& probe, const std::string& fields,
                                               const std::string& devices);
std::vector<Gpu> DetectAmd(const Probe& probe, std::vector<std::string>& notes);

std::string CpuClocks(const Probe& probe);
std::map<std::string, std::string> SystemVersions(const Probe& probe);

// 90402 is gfx942, 90010 gfx90a: major, minor and stepping, the last two in hex.
std::string GfxName(int64_t gfx_target_version);

// "cpu (AMD EPYC, 2 cores) and 8 x h200 (NVIDIA H200)"
std::string MachineWords(const Machine& machine);

// kInvalid with what was found, unless the machine has the hardware, and GPUs for every rank.
Status CheckHardware(const std::string& wanted, int ranks, const Machine& machine);

record::Fingerprint ToFingerprint(const Machine& machine, const std::string& hardware);

}  // namespace assay::runner
