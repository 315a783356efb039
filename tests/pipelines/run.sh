#!/usr/bin/env bash
# run.sh: the tests of the shipped pipelines, with the schemas that their services publish. check-jsonschema, which has them, goes
# into a virtual environment under build/, made anew when requirements.txt changes.
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
python3 tests/pipelines/comment_test.py
CHECK_JSONSCHEMA="$PWD/$home/bin/check-jsonschema" python3 tests/pipelines/pipelines_test.py
