#include "runner/cli/command.h"

int main(int argc, char** argv) {
  return assay::runner::Main(argc, argv);
}
