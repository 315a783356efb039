"""Reads a gpt-oss checkpoint of any layout into the parameters of transformers' implementation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file

E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


@dataclass
class LayerScales:
    """Static FP8 scales of one layer; None where nothing is rounded."""

    expert_input: float | None = None
    gated: float | None = None
    key: float | None = None
    value: float | None = None


def dequantise(packed: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """[..., rows, k / 2] bytes and [..., rows, k / 32] scale bytes to [..., rows, k]."""
    nibbles = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(-2)
    values = E2M1[nibbles.long()]
    exponents = (scales.int() - 127).repeat_interleave(32, dim=-1)
    return torch.ldexp(values, exponents)


def experts_of_layer(tensors: dict[str, torch.Tensor], at: str, which: str, experts: int) -> dict[str, torch.Tensor]:
    """Weight [experts, k, columns] and bias [experts, columns], as transformers has them."""
    if f"{at}{which}" in tensors:
        return {which: tensors[f"{at}{which}"], f"{which}_bias": tensors[f"{at}{which}_bias"]}
    if f"{at}{which}_blocks" in tensors:
        weight = dequantise(tensors[f"{at}{which}_blocks"].flatten(-2), tensors[f"{at}{which}_scales"])
        return {which: weight.transpose(1, 2), f"{which}_bias": tensors[f"{at}{which}_bias"]}
    names = [f"{at}{e}.{which}.weight" for e in range(experts)]
    weights = [dequantise(tensors[name], tensors[f"{name}_scale"]) for name in names]
    biases = [tensors[f"{at}{e}.{which}.bias"] for e in range(experts)]
    return {which: torch.stack(weights).transpose(1, 2), f"{which}_bias": torch.stack(biases)}


def largest_scale(tensors: dict[str, torch.Tensor], at: str, which: str, experts: int) -> float | None:
    """The largest of the experts' input scales."""
    names = [f"{at}{e}.{which}.input_scale" for e in range(experts)]
    return max(tensors[name].item() for name in names) if names[0] in tensors else None


def read(folder: Path) -> tuple[dict, dict[str, torch.Tensor], list[LayerScales]]:
    """config.json without its quantisation, transformers' state, and each layer's scales."""
    config = json.loads((folder / "config.json").read_text())
    config.pop("quantization_config", None)
    tensors = load_file(folder / "model.safetensors")
    state = {name: tensor for name, tensor in tensors.items() if ".experts." not in name and "_scale" not in name}
    scales = []
    for layer in range(config["num_hidden_layers"]):
        at, attention = f"model.layers.{layer}.mlp.experts.", f"model.layers.{layer}.self_attn."
        experts = config["num_local_experts"]
        for which in ("gate_up_proj", "down_proj"):
            for name, tensor in experts_of_layer(tensors, at, which, experts).items():
                state[at + name] = tensor
        key, value = (tensors.get(f"{attention}{which}_proj.output_scale") for which in "kv")
        scales.append(
            LayerScales(
                largest_scale(tensors, at, "gate_up_proj", experts),
                largest_scale(tensors, at, "down_proj", experts),
                None if key is None else key.item(),
                None if value is None else value.item(),
            )
        )
    return config, {name: tensor.double().contiguous() for name, tensor in state.items()}, scales
