#!/usr/bin/env python3
"""Holds the golden files of `assay ci emit` against tests/fleet/schemas, and scripts against `bash -n`.

Where the program check-jsonschema is in PATH (PyPI), also against the public schemas that it carries. Exits 77
(skipped) where python3-jsonschema is not installed; GitHub's workflow needs PyYAML."""

import json
import pathlib
import shutil
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: the Python package jsonschema is missing (Debian: python3-jsonschema)")
    sys.exit(77)
try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "runner/fleet/golden"

# engine: its files, and the name of the public schema
FILES = {"buildkite": ("pipeline*.json", "vendor.buildkite"), "gitlab": ("*.gitlab-ci.yml", "vendor.gitlab-ci"),
         "github": ("*.yml", "vendor.github-workflows"), "kubernetes": ("*.json", None)}


def document(path: pathlib.Path):
    """What the file says; None where it cannot be read here. YAML 1.1 takes GitHub's key `on` for true."""
    text = path.read_text()
    if text.startswith("{"):
        return json.loads(text)
    if yaml is None:
        print(f"{path.name}: not looked at: the Python package yaml is missing (Debian: python3-yaml)")
        return None
    loaded = yaml.safe_load(text)
    return {("on" if key is True else key): value for key, value in loaded.items()}


def mistakes_of(path: pathlib.Path, schema: dict) -> list[str]:
    read = document(path)
    errors = jsonschema.Draft202012Validator(schema).iter_errors(read) if read is not None else []
    return [f"{path.relative_to(ROOT)}: {error.json_path}: {error.message[:300]}" for error in errors]


def public_mistakes_of(path: pathlib.Path, schema: str | None) -> list[str]:
    program = shutil.which("check-jsonschema")
    if program is None or schema is None:
        return []
    done = subprocess.run([program, "--builtin-schema", schema, str(path)], capture_output=True, text=True)
    print(f"{path.relative_to(ROOT)}: {schema}: {'as it says' if done.returncode == 0 else 'not as it says'}")
    return [] if done.returncode == 0 else [done.stdout + done.stderr]


def is_strict(engine: str, schema: dict) -> bool:
    """A schema that lets anything pass checks nothing."""
    return not jsonschema.Draft202012Validator(schema).is_valid({"stepz": [], "stages": ["report"], "kind": "Pod"})


def main() -> int:
    if not hasattr(jsonschema, "Draft202012Validator"):
        print("skipped: python3-jsonschema is older than 4")
        return 77
    mistakes, checked = [], 0
    for engine, (pattern, public) in FILES.items():
        schema = json.loads((ROOT / f"tests/fleet/schemas/{engine}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        if not is_strict(engine, schema):
            mistakes.append(f"{engine}.schema.json accepts what is no file of {engine}")
        files = sorted((GOLDEN / engine).glob(pattern))
        if not files:
            mistakes.append(f"{GOLDEN / engine}: has no {pattern}")
        for path in files:
            mistakes += mistakes_of(path, schema) + public_mistakes_of(path, public)
            checked += 1
    for path in sorted(GOLDEN.glob("*/*.s*")):  # *.sh, *.sbatch
        done = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True)
        mistakes += [done.stderr] if done.returncode != 0 else []
        checked += 1
    print("\n".join(mistakes) if mistakes else f"{checked} files are as they should be")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
