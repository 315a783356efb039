#!/usr/bin/env bash
# run.sh [pytest arguments]: the openai client and lm-evaluation-harness against the built assay-engine.
# Their pinned versions go into a virtual environment under build/, made anew when requirements.txt changes.
set -euo pipefail
cd "$(dirname "$0")/../.."
wanted=tests/clients/requirements.txt
home=build/clients
python=$home/bin/python

if ! cmp -s "$wanted" "$home/installed.txt"; then
  rm -rf "$home"
  python3 -m venv "$home"
  "$python" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps -r "$wanted"
  cp "$wanted" "$home/installed.txt"
fi

# Nothing may be fetched: tasks, data and tokenizers are the checkout's.
export HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 HF_HOME="$PWD/$home/hf" PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -p no:cacheprovider tests/clients "$@"
