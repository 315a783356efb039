#include "testing/zip_file.h"

#include <fmt/format.h>
#include <zip.h>

#include "base/check.h"
#include "base/file.h"
#include "testing/temp_dir.h"

namespace assay::testing {

std::string ZipOf(const std::map<std::string, std::string>& members, const std::string& password) {
  const TempDir folder;
  const std::string file = (folder / "made.zip").string();
  zip_t* archive = zip_open(file.c_str(), ZIP_CREATE | ZIP_EXCL, nullptr);
  CHECK(archive != nullptr);
  for (const auto& [name, content] : members) {
    zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    CHECK(index >= 0);
    if (password.empty()) continue;
    CHECK_EQ(zip_file_set_encryption(archive, static_cast<zip_uint64_t>(index), ZIP_EM_TRAD_PKWARE,
                                     password.c_str()),
             0);
  }
  CHECK_EQ(zip_close(archive), 0);
  return ReadFile(file).value();
}

std::string MadeUpQuestions(int count) {
  std::string csv =
      "Pre-Revision Correct Answer,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,"
      "Incorrect Answer 3,Extra Revised Correct Answer,Record ID,High-level domain\r\n";
  const char* domains[] = {"Physics", "Chemistry", "Biology"};
  for (int i = 0; i < count; ++i) {
    csv += fmt::format(
        "old,\"Which number, \"\"exactly\"\",\ncomes after {0}?\",\"{1}\n\",{2},{3},{4},new,rec{0},{5}\r\n",
        i, i + 1, i + 2, i + 3, i + 4, domains[i % 3]);
  }
  return csv;
}

}  // namespace assay::testing
