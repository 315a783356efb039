#pragma once

#include <cstdint>

#include "reports/markup.h"
#include "reports/view.h"

namespace assay::reports {

// How much of a page is left out to keep within a size, each step with all before it. What fails stays to the
// last.
enum class Cut {
  kNothing,
  kHeldChecks,  // validity checks that hold, observations, what is said of cells where all is well
  kPassRows,    // rows and cells that pass
  kLongText,    // logs, details and long lists are shortened, definitions go
  kTables,      // lists of what fails only
  kReasons,     // what fails without why, one line a cell
};

// What was left out, for the line that says so.
struct Omitted {
  int64_t held_checks = 0, observations = 0, pass_rows = 0, long_texts = 0, fail_rows = 0;
};

// A page that is being written.
struct Page : View {
  Page(const ReportInput& report, const Markup& how, Cut how_much)
      : View(report), markup(how), cut(how_much) {}

  bool Leaves(Cut what) const { return cut >= what; }
  std::string BaseName() const { return markup.Text(say.Word(base_name)); }
  std::string HeadName() const { return markup.Text(say.Word(head_name)); }

  const Markup& markup;
  Cut cut;
  mutable Omitted omitted;
};

}  // namespace assay::reports
