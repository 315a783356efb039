#pragma once

#include <map>
#include <string>

namespace assay::runner {

// Versions of the Python packages that a server's program brings along, by name: of those that are known to
// decide how fast and how right a server is. Read from the environment that the program's first line names,
// or that an interpreter lies in; nothing is run. Empty for any other program.
std::map<std::string, std::string> PythonPackages(const std::string& program);

}  // namespace assay::runner
