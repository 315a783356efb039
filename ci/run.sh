#!/usr/bin/env bash
# run.sh VERB: the steps of CI, the same words here and there.
#   build   the two programs, release                    test    build everything, run every test
#   check   layers, formatting                           asan    unit and process tests under ASan + UBSan
#   hip     the GPU kernels compiled for AMD: gfx90a, gfx942, gfx950, and what the code must have (nothing is run)
#   package a .deb and a tarball
#   bench   what the client of the serving benchmark can do
#   test-clients   the openai client and lm-evaluation-harness, from PyPI, against the engine
#   test-pipelines pipelines, shipped and emitted, against the schemas that their services publish, from PyPI
#   test-slurm     a fleet of cells on a Slurm cluster on loopback; as root
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}

configure() {  # preset, further arguments
  local preset=$1; shift
  local log="build/$preset/configure.log"
  mkdir -p "build/$preset"
  cmake --preset "$preset" "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}

verb_build() {
  [ -f build/release/build.ninja ] || configure release -DASSAY_TESTS=OFF
  cmake --build build/release --target assay assay-engine -j "$jobs" -- --quiet
}

run_tests() {  # preset, ctest arguments
  local preset=$1; shift
  configure "$preset" -DASSAY_TESTS=ON
  cmake --build "build/$preset" -j "$jobs" -- --quiet
  ctest --test-dir "build/$preset" --output-on-failure -j "$jobs" "$@"
}

verb_test() { run_tests release -LE slurm; }  # make test-slurm
verb_asan() { run_tests asan -LE slurm; }

verb_package() {
  verb_build
  cmake build/release >/dev/null  # the commit may have moved on
  cmake --build build/release --target assay assay-engine -j "$jobs" -- --quiet
  (cd build/release && cpack -B ../package >../package.log 2>&1) || { cat build/package.log >&2; exit 1; }
  rm -rf build/package/_CPack_Packages
  ls build/package/*.deb build/package/*.tar.gz
}

verb_bench() {
  configure release -DASSAY_TESTS=ON
  cmake --build build/release --target client_bench -j "$jobs" -- --quiet
  build/release/bin/client_bench
}

verb_hip() {
  local code=0
  ci/check_hip.sh || code=$?
  [ "$code" -eq 77 ] || return "$code"  # it has said what was not checked
}

verb_test-clients() {
  verb_build
  tests/clients/run.sh
}

verb_test-pipelines() {
  verb_build
  tests/pipelines/run.sh
}

verb_test-slurm() {
  verb_build
  local code=0
  python3 tests/slurm/slurm_test.py || code=$?
  [ "$code" -eq 77 ] || return "$code"  # it has said why it was skipped
}

verb_check() {
  python3 ci/check_layers.py
  local sources
  mapfile -t sources < <(git ls-files '*.h' '*.cc' '*.hip')
  clang-format --dry-run -Werror "${sources[@]}"
  echo "layers and formatting are right"
}

case "${1:-}" in
  build | test | test-clients | test-pipelines | test-slurm | asan | check | hip | bench | package) "verb_$1" ;;
  *) sed -n '2,10p' "$0" >&2; exit 2 ;;
esac
