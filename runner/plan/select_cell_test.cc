#include "runner/plan/select_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::runner {
namespace {

std::vector<Cell> Cells() {
  std::vector<Cell> cells(2);
  cells[0].key = "cpu.tiny.smoke";
  cells[1].key = "cpu.tiny.full";
  return cells;
}

TEST(SelectCell, KeepsTheOneWithTheKey) {
  const auto cells = SelectCell(Cells(), "cpu.tiny.full");
  ASSERT_TRUE(cells);
  ASSERT_EQ(cells->size(), 1u);
  EXPECT_EQ(cells->front().key, "cpu.tiny.full");
}

TEST(SelectCell, AnswersAnUnknownKeyWithTheNearestAndAllThereAre) {
  const auto cells = SelectCell(Cells(), "cpu.tiny.smok");
  ASSERT_FALSE(cells);
  EXPECT_EQ(cells.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(cells.error().message,
            "--cell cpu.tiny.smok: no config given is this cell; did you mean cpu.tiny.smoke?; the cells are "
            "cpu.tiny.smoke, cpu.tiny.full");
}

// A script whose variable is empty must not run everything.
TEST(SelectCell, TakesNoEmptyKey) {
  EXPECT_FALSE(SelectCell(Cells(), ""));
}

}  // namespace
}  // namespace assay::runner
