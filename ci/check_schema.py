#!/usr/bin/env python3
"""Holds verdict.json files against docs/verdict.schema.json. Arguments: files; none: the golden pages of reports/.

Exits 77 (skipped) where python3-jsonschema is not installed."""

import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: the Python package jsonschema is missing (Debian: python3-jsonschema)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent


def mistakes_of(validator, path: pathlib.Path) -> list[str]:
    """One line for each place where a file is not as the schema says."""
    document = json.loads(path.read_text())
    return [f"{path}: {error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def is_strict(validator) -> bool:
    """A schema that lets anything pass checks nothing."""
    document = json.loads((ROOT / "reports/golden/fail/verdict.json").read_text())
    document["checks"][0]["outcome"] = "GREEN"
    document["run"]["cells"][0].pop("key")
    return len(list(validator.iter_errors(document))) == 2


def main(arguments: list[str]) -> int:
    if not hasattr(jsonschema, "Draft202012Validator"):
        print("python3-jsonschema is older than 4: the schema is not checked")
        return 77
    schema = json.loads((ROOT / "docs/verdict.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    files = [pathlib.Path(a) for a in arguments] or sorted((ROOT / "reports/golden").glob("*/verdict.json"))
    mistakes = [mistake for path in files for mistake in mistakes_of(validator, path)]
    if not is_strict(validator):
        mistakes.append("the schema accepts an unknown outcome or a cell without its key")
    print("\n".join(mistakes) if mistakes else f"{len(files)} files are as docs/verdict.schema.json says")
    return 1 if mistakes or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
