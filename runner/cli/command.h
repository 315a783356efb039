#pragma once

#include <string_view>
#include <vector>

namespace assay::runner {

// One subcommand of `assay`. The table drives dispatch, the help page and the spelling hint.
struct Command {
  std::string_view name;
  std::string_view summary;           // one line of `assay --help`
  std::string_view help;              // the whole page of `assay NAME --help`
  int (*run)(int argc, char** argv);  // argv[0] is the command's name; returns the exit code
};

const std::vector<Command>& CommandTable();

// The program: picks the command, prints help and version. Returns the exit code.
int Main(int argc, char** argv);

int RunCommand(int argc, char** argv);
int CiCommand(int argc, char** argv);
int MergeCommand(int argc, char** argv);
int AbCommand(int argc, char** argv);
int ValidateCommand(int argc, char** argv);
int CompareCommand(int argc, char** argv);
int ReportCommand(int argc, char** argv);
int BaselineCommand(int argc, char** argv);
int HistoryCommand(int argc, char** argv);
int BisectCommand(int argc, char** argv);
int BenchCommand(int argc, char** argv);
int ImportCommand(int argc, char** argv);
int SelftestCommand(int argc, char** argv);
int DataCommand(int argc, char** argv);
int EvalCommand(int argc, char** argv);
int GradeCommand(int argc, char** argv);
int DoctorCommand(int argc, char** argv);

extern const std::string_view kRunHelp, kAbHelp, kValidateHelp, kCompareHelp, kReportHelp, kBaselineHelp,
    kHistoryHelp, kBisectHelp, kBenchHelp, kImportHelp, kDataHelp, kEvalHelp, kGradeHelp, kSelftestHelp,
    kDoctorHelp, kCiHelp, kMergeHelp;

}  // namespace assay::runner
