"""Writes a training checkpoint as a served model: gpt-oss's MXFP4 layout in one file, and JSON files."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from model import EXPERT_WEIGHTS, build, config_fields, plain_state, special_id
from mxfp4 import pack, round_trip, unpack


def stored_tensors(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Expert weights as MXFP4 blocks and scales, everything else as bfloat16."""
    stored = {}
    for name, tensor in state.items():
        if name.rsplit(".", 1)[-1] in EXPERT_WEIGHTS:
            blocks, scales = pack(tensor)
            assert torch.equal(unpack(blocks, scales), round_trip(tensor.float()))
            stored[f"{name}_blocks"], stored[f"{name}_scales"] = blocks, scales
        else:
            stored[name] = tensor.to(torch.bfloat16)
    return {name: tensor.contiguous() for name, tensor in stored.items()}


def generation_config() -> dict[str, object]:
    """generation_config.json with gpt-oss's three stop tokens."""
    return {
        "bos_token_id": special_id("<|startoftext|>"),
        "do_sample": True,
        "eos_token_id": [special_id("<|return|>"), special_id("<|endoftext|>"), special_id("<|call|>")],
        "pad_token_id": special_id("<|endoftext|>"),
    }


def _write_json(path: Path, fields: dict[str, object]) -> None:
    path.write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, help="what train.py wrote; without it, random weights")
    parser.add_argument("--out", type=Path, default=Path("models/tiny-moe"))
    arguments = parser.parse_args()
    if arguments.checkpoint:
        state = torch.load(arguments.checkpoint, map_location="cpu", weights_only=True)
    else:
        torch.manual_seed(0)
        state = plain_state(build("eager")[0])
    arguments.out.mkdir(parents=True, exist_ok=True)
    weights = arguments.out / "model.safetensors"
    save_file(stored_tensors(state), weights, metadata={"format": "pt"})
    weights.chmod(0o644)
    _write_json(arguments.out / "config.json", config_fields())
    _write_json(arguments.out / "generation_config.json", generation_config())


if __name__ == "__main__":
    main()
