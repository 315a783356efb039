#include "runner/plan/machine.h"

#include <chrono>

#include "runner/config/config_test_support.h"
#include "runner/plan/program_output.h"

namespace assay::runner {
namespace {

// A machine made of files; nvidia-smi answers what the test says.
struct FakeMachine {
  ConfigFolder files;
  Result<std::string> nvidia_smi = Fail(ErrorKind::kInfrastructure, "nvidia-smi could not be started");

  Machine Detect() const {
    Probe probe;
    probe.root = files.path();
    probe.run = [this](const std::vector<std::string>&) { return nvidia_smi; };
    return DetectMachine(probe);
  }
};

TEST(Machine, ReadsTheCpuAndItsSystem) {
  FakeMachine fake;
  fake.files.Write(
      "proc/cpuinfo",
      "processor\t: 0\nmodel name\t: AMD EPYC 9B45\nflags\t: a\n\nprocessor\t: 1\nmodel name\t: X\n");
  fake.files.Write("proc/meminfo", "MemTotal:       32883252 kB\nMemFree: 1 kB\n");
  fake.files.Write("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  fake.files.Write("proc/sys/kernel/osrelease", "6.1.0-28-amd64\n");
  fake.files.Write("etc/machine-id", "0123456789abcdef\n");
  const Machine machine = fake.Detect();
  EXPECT_EQ(machine.cpu, "AMD EPYC 9B45");
  EXPECT_EQ(machine.cores, 2);
  EXPECT_EQ(machine.memory_mb, 32883252 / 1024);
  EXPECT_EQ(machine.os, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(machine.kernel, "6.1.0-28-amd64");
  EXPECT_EQ(machine.host.size(), 16u);
  EXPECT_EQ(machine.host.find("0123456789abcdef"), std::string::npos) << "the machine is not named";
  EXPECT_TRUE(machine.gpus.empty());
  EXPECT_TRUE(machine.notes.empty());
  EXPECT_EQ(MachineWords(machine), "cpu (AMD EPYC 9B45, 2 cores) and no GPU");
  const record::Fingerprint fingerprint = ToFingerprint(machine, "cpu");
  EXPECT_EQ(fingerprint.hardware, "cpu");
  EXPECT_EQ(fingerprint.device, "AMD EPYC 9B45");
  EXPECT_EQ(fingerprint.devices, 2);
}

TEST(Machine, HostIsTheSameForOneIdAndDiffersForAnother) {
  FakeMachine a, b;
  a.files.Write("etc/machine-id", "aaaa\n");
  b.files.Write("etc/machine-id", "uninitialized\n");
  b.files.Write("proc/sys/kernel/hostname", "aaaa\n");
  EXPECT_EQ(a.Detect().host, b.Detect().host) << "an image without an id is told by its host name";
  b.files.Write("etc/machine-id", "bbbb\n");
  EXPECT_NE(a.Detect().host, b.Detect().host);
}

TEST(Machine, ReadsWhatNvidiaSmiSays) {
  FakeMachine fake;
  fake.nvidia_smi = std::string("NVIDIA H200, 580.159.04, 143771\nNVIDIA H200, 580.159.04, 143771\n");
  const Machine machine = fake.Detect();
  const Gpu h200{"h200", "NVIDIA H200", "580.159.04", 143771};
  EXPECT_EQ(machine.gpus, (std::vector<Gpu>{h200, h200}));
  const record::Fingerprint fingerprint = ToFingerprint(machine, "h200");
  EXPECT_EQ(fingerprint.hardware, "h200");
  EXPECT_EQ(fingerprint.device, "NVIDIA H200");
  EXPECT_EQ(fingerprint.devices, 2);
  EXPECT_EQ(fingerprint.driver, "580.159.04");
  EXPECT_EQ(fingerprint.memory_mb, 143771);
}

struct NameCase {
  const char* name;
  const char* row;
  std::vector<Gpu> gpus;
};

class NvidiaRow : public ::testing::TestWithParam<NameCase> {};

TEST_P(NvidiaRow, IsReadAsFarAsItGoes) {
  FakeMachine fake;
  fake.nvidia_smi = std::string(GetParam().row);
  EXPECT_EQ(fake.Detect().gpus, GetParam().gpus);
}

INSTANTIATE_TEST_SUITE_P(
    Table, NvidiaRow,
    ::testing::Values(
        NameCase{"H200Nvl", "NVIDIA H200 NVL, 570.1, 143771", {{"h200", "NVIDIA H200 NVL", "570.1", 143771}}},
        NameCase{"Gh200IsNoH200",
                 "NVIDIA GH200 480GB, 570.1, 97871",
                 {{"gh200-480gb", "NVIDIA GH200 480GB", "570.1", 97871}}},
        NameCase{"UnifiedMemory", "NVIDIA GB10, 580.1, [N/A]", {{"gb10", "NVIDIA GB10", "580.1", 0}}},
        NameCase{"NoDriverField",
                 "NVIDIA H100 80GB HBM3, [Not Supported], 81559",
                 {{"h100", "NVIDIA H100 80GB HBM3", "", 81559}}},
        NameCase{"NoDevices", "No devices were found\n", {}}, NameCase{"Garbage", "\x01,,\n,,,,\n", {}},
        NameCase{"LostDevice", "[GPU is lost], [GPU is lost], [GPU is lost]\n", {}}),
    [](const auto& test) { return test.param.name; });

TEST(Machine, DriverFilesStandInForNvidiaSmi) {
  FakeMachine fake;
  fake.nvidia_smi = Fail(ErrorKind::kInfrastructure, "nvidia-smi did not answer within 20 s");
  fake.files.Write("proc/driver/nvidia/gpus/0000:00:06.0/information",
                   "Model: \t\t NVIDIA H200\nIRQ:   \t\t 41\nGPU UUID: \t GPU-0\n");
  const Machine machine = fake.Detect();
  EXPECT_EQ(machine.gpus, (std::vector<Gpu>{{"h200", "NVIDIA H200", "", 0}}));
  EXPECT_EQ(machine.notes, (std::vector<std::string>{"nvidia-smi did not answer within 20 s"}));
}

TEST(Machine, ReadsTheSettingsThatNvidiaSmiKnows) {
  ConfigFolder files;
  Probe probe;
  probe.root = files.path();
  probe.run = [](const std::vector<std::string>& argv) -> Result<std::string> {
    return std::string(argv.at(1).find("clocks") == std::string::npos
                           ? "NVIDIA H200, 580.159.04, 143771\n"
                           : "1980, 700.00, Enabled, 96.00.CF.00.01\n");
  };
  const record::Fingerprint fingerprint = ToFingerprint(DetectMachine(probe), "h200");
  EXPECT_EQ(fingerprint.clocks, "sm max 1980 MHz, power 700.00 W");
  EXPECT_EQ(fingerprint.ecc, "enabled");
  EXPECT_EQ(fingerprint.versions, (std::map<std::string, std::string>{{"firmware", "96.00.CF.00.01"}}));
}

TEST(Machine, TakesSettingsThatTheDriverDoesNotKnowForUnknown) {
  ConfigFolder files;
  Probe probe;
  probe.root = files.path();
  std::string settings = "[N/A], [Not Supported], [N/A], [N/A]\n";
  probe.run = [&](const std::vector<std::string>& argv) -> Result<std::string> {
    if (argv.at(1).find("clocks") == std::string::npos) return std::string("NVIDIA GB10, 580.1, [N/A]\n");
    return settings;
  };
  EXPECT_EQ(DetectMachine(probe).gpus, (std::vector<Gpu>{{"gb10", "NVIDIA GB10", "580.1", 0}}));
  settings = "Field \"ecc.mode.current\" is not a valid field to query.\n";
  EXPECT_EQ(DetectMachine(probe).gpus, (std::vector<Gpu>{{"gb10", "NVIDIA GB10", "580.1", 0}}));
}

TEST(Machine, ReadsTheSettingsOfAmdAndTheVersionsOfTheSystem) {
  FakeMachine fake;
  fake.files.Write("sys/class/kfd/kfd/topology/nodes/1/properties",
                   "gfx_target_version 90402\ndrm_render_minor 128\n");
  const std::string device = "sys/class/drm/renderD128/device/";
  fake.files.Write(device + "power_dpm_force_performance_level", "auto\n");
  fake.files.Write(device + "hwmon/hwmon3/power1_cap", "750000000\n");
  fake.files.Write(device + "vbios_version", "113-M3000100-102\n");
  fake.files.Write("opt/rocm/.info/version", "7.0.2-56\n");
  fake.files.Write("usr/local/cuda/version.json", R"({"cuda": {"name": "CUDA SDK", "version": "12.8.1"}})");
  fake.files.Write("var/lib/dpkg/status",
                   "Package: libc6\nVersion: 2.36-9+deb12u10\n\nPackage: x\nVersion: 1\n");
  fake.files.Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  const Machine machine = fake.Detect();
  EXPECT_EQ(machine.clocks, "governor performance");
  const record::Fingerprint fingerprint = ToFingerprint(machine, "gfx942");
  EXPECT_EQ(fingerprint.clocks, "performance level auto, power 750 W");
  EXPECT_EQ(fingerprint.versions, (std::map<std::string, std::string>{{"cuda", "12.8.1"},
                                                                      {"firmware", "113-M3000100-102"},
                                                                      {"libc", "2.36-9+deb12u10"},
                                                                      {"rocm", "7.0.2-56"}}));
}

TEST(Machine, ReadsTheComputeTopologyOfAmd) {
  FakeMachine fake;
  const std::string nodes = "sys/class/kfd/kfd/topology/nodes/";
  fake.files.Write(nodes + "0/properties", "cpu_cores_count 64\nsimd_count 0\ngfx_target_version 0\n");
  fake.files.Write(nodes + "1/properties", "cpu_cores_count 0\nsimd_count 1216\ngfx_target_version 90500\n");
  fake.files.Write(nodes + "1/name", "ip discovery\n");
  fake.files.Write(nodes + "1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 309220868096\n");
  fake.files.Write(nodes + "2/properties", "gfx_target_version 90402\n");
  fake.files.Write("sys/module/amdgpu/version", "6.12.12\n");
  const Machine machine = fake.Detect();
  EXPECT_EQ(machine.gpus, (std::vector<Gpu>{{"gfx950", "ip discovery", "6.12.12", 294896},
                                            {"gfx942", "AMD gfx942", "6.12.12", 0}}));
}

TEST(Machine, SaysWhyAnAmdGpuCannotBeUsed) {
  FakeMachine unloaded;
  unloaded.files.Write("sys/bus/pci/devices/0000:05:00.0/vendor", "0x1002\n");
  unloaded.files.Write("sys/bus/pci/devices/0000:05:00.0/class", "0x120000\n");
  EXPECT_EQ(
      unloaded.Detect().notes,
      std::vector<std::string>{"an AMD accelerator is at 0000:05:00.0 of the PCI bus and the driver does not "
                               "show it; load the kernel's amdgpu (modprobe amdgpu)"});
  FakeMachine graphics;
  graphics.files.Write("sys/bus/pci/devices/0000:05:00.0/vendor", "0x1002\n");
  graphics.files.Write("sys/bus/pci/devices/0000:05:00.0/class", "0x030000\n");
  EXPECT_TRUE(graphics.Detect().notes.empty());

  FakeMachine container;
  container.files.Write("sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 90402\n");
  ASSERT_EQ(container.Detect().notes.size(), 1u);
  EXPECT_NE(container.Detect().notes.front().find("there is no /dev/kfd"), std::string::npos);
  container.files.Write("dev/kfd", "");
  EXPECT_TRUE(container.Detect().notes.empty());
}

TEST(GfxName, IsMadeOfTheVersionsParts) {
  EXPECT_EQ(GfxName(90402), "gfx942");
  EXPECT_EQ(GfxName(90500), "gfx950");
  EXPECT_EQ(GfxName(90010), "gfx90a");
  EXPECT_EQ(GfxName(120500), "gfx1250");
  EXPECT_EQ(GfxName(110001), "gfx1101");
}

TEST(Machine, ThisOneIsFound) {
  const Machine machine = DetectMachine(Probe::OfThisMachine());
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_GT(machine.cores, 0);
  EXPECT_GT(machine.memory_mb, 0);
  EXPECT_FALSE(machine.kernel.empty());
}

TEST(ProgramOutput, TellsHowAProgramEnded) {
  using std::chrono::seconds;
  const auto error = [](const Result<std::string>& result) { return result ? "" : result.error().message; };
  EXPECT_EQ(ProgramOutput({"echo", "a b"}, seconds(10)).value_or("none"), "a b\n");
  EXPECT_EQ(error(ProgramOutput({"no-such-program-here"}, seconds(10))),
            "no-such-program-here could not be started: No such file or directory");
  EXPECT_EQ(error(ProgramOutput({"false"}, seconds(10))), "false failed (exit code 1)");
  EXPECT_EQ(error(ProgramOutput({"sh", "-c", "kill -9 $$"}, seconds(10))), "sh failed (signal 9)");
  EXPECT_EQ(error(ProgramOutput({"yes"}, seconds(10))), "yes wrote without end");
}

TEST(ProgramOutput, EndsAProgramThatTakesTooLong) {
  const auto begin = std::chrono::steady_clock::now();
  const auto output = ProgramOutput({"sh", "-c", "sleep 60 & wait"}, std::chrono::milliseconds(100));
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().message, "sh did not answer within 0.1 s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace
}  // namespace assay::runner
