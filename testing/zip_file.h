#pragma once

#include <map>
#include <string>

namespace assay::testing {

// The bytes of a zip archive with these members, encrypted as classic zips are (ZipCrypto) unless `password`
// is empty.
std::string ZipOf(const std::map<std::string, std::string>& members, const std::string& password);

// A CSV with GPQA's columns and so many made-up questions; ids are rec0, rec1, ...
std::string MadeUpQuestions(int count);

}  // namespace assay::testing
