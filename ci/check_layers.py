#!/usr/bin/env python3
"""Checks that includes only point down the layers of ci/layers.txt, and that third-party libraries stay in their places."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

# library header prefix: the folders that may see it
LIBRARIES = {
    "boost/process": ["runner/launch"],
    "boost/asio": ["engine/server", "engine/main.cc", "testing", "runner/launch"],
    "boost/beast": ["engine/server", "testing"],
    "boost/math": ["record"],
    "curl/": ["evals/http", "runner/store"],
    "yaml-cpp/": ["runner/config"],
    "sqlite3": ["runner/store"],
    "pcre2": ["tokenizer", "evals/gpqa", "runner/launch"],
    "hwy/": ["kernels"],
    "hip/": ["kernels"],
    "cuda": ["kernels"],
    "cublas": ["kernels"],
    "prometheus/": ["engine/server"],
    "CLI/": ["runner/cli", "engine/command_line.h", "testing/main.cc"],
    "openssl/": ["base"],
    "simdjson": ["wire/plain_chunk"],
    "zip.h": ["evals/gpqa", "testing"],
}


def read_layers() -> dict[str, set[str]]:
    """Folder to the set of folders it may include."""
    layers = {}
    for line in (ROOT / "ci/layers.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            folder, below = line.split(":")
            layers[folder] = {folder, *below.split()}
    return layers


def problems_of(path: pathlib.Path, layers: dict[str, set[str]]) -> list[str]:
    """What is wrong with one file's includes."""
    name = path.relative_to(ROOT).as_posix()
    folder = name.split("/")[0]
    is_test = name.endswith(("_test.cc", "_bench.cc", "_test_support.h", "_test_support.cc"))
    allowed = layers[folder] | ({"testing"} if is_test else set())
    found = []
    for kind, header in INCLUDE.findall(path.read_text(errors="replace")):
        top = header.split("/")[0]
        if kind == '"' and top in layers and top not in allowed:
            found.append(f"{name}: includes {header}, but {folder} may not see {top}")
        for library, places in LIBRARIES.items():
            if header.startswith(library) and not any(name.startswith(place) for place in places):
                found.append(f"{name}: includes <{header}>, which belongs in {', '.join(places)}")
    return found


def main() -> int:
    layers = read_layers()
    files = [p for folder in layers for ext in ("*.h", "*.cc", "*.hip") for p in sorted((ROOT / folder).rglob(ext))]
    problems = [problem for path in files for problem in problems_of(path, layers)]
    print("\n".join(problems) if problems else f"{len(files)} files keep the layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
