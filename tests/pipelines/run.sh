#!/usr/bin/env bash
# run.sh: holds the shipped pipelines, and those that assay emits, against the schemas that their services publish.
# check-jsonschema has these; it goes into a virtual environment under build/, made anew when requirements.txt changes.
set -euo pipefail
cd "$(dirname "$0")/../.."
wanted=tests/pipelines/requirements.txt
home=build/pipelines

if ! cmp -s "$wanted" "$home/installed.txt"; then
  rm -rf "$home"
  python3 -m venv "$home"
  "$home/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"
  cp "$wanted" "$home/installed.txt"
fi
export PATH="$PATH:$PWD/$home/bin"
python3 tests/pipelines/pipelines_test.py Written
python3 tests/fleet/check_files.py
