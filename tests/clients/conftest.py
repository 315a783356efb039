"""A running assay-engine with the bundled model."""

import contextlib
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build/release/bin"))
MODEL = ROOT / "models/tiny-moe"


@contextlib.contextmanager
def running_engine(*flags):
    """The base URL of an engine, ended with the block."""
    command = [PROGRAMS / "assay-engine", "serve", "--model", MODEL, "--port", "0", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as engine:
        try:
            ready = json.loads(engine.stdout.readline() or "{}")
            assert ready.get("event") == "ready", f"no ready line from {command}"
            yield f"http://127.0.0.1:{ready['port']}"
        finally:
            engine.terminate()
            engine.wait(timeout=30)


@pytest.fixture(scope="session")
def engine():
    with running_engine() as url:
        yield url
