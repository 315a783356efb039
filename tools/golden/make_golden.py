"""Writes golden values of random checkpoints in every layout, by transformers' gpt-oss in float64.

For each prompt i: `prompt_i` [T], `logits_i` [min(T, 4), vocabulary] of its last positions, and `greedy_i` [64], the
greedy continuation. `weights_sha256` is of the checkpoint's model.safetensors.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import tempfile
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import GptOssConfig, GptOssForCausalLM
from transformers.models.gpt_oss import modeling_gpt_oss

from checkpoint import LayerScales, read

LAYOUTS = ["mxfp4", "bf16", "quark", "quark-fp8", "quark-fp8-kv"]
SHAPE = {
    "layers": 4,
    "vocab": 256,
    "hidden": 64,
    "intermediate": 96,
    "experts": 8,
    "experts-per-token": 4,
    "heads": 4,
    "kv-heads": 2,
    "head-dim": 16,
    "seed": 20261130,
}
PROMPT_LENGTHS = [1, 5, 9, 150]  # the last is longer than the sliding window of 128
# Of prompts up to LONGEST_EXACT tokens no number that is rounded to FP8 lies nearer to the middle of two codes,
# relative to its size, so that another order of additions rounds it alike and logits can be compared closely.
NEAREST_MIDDLE = 5e-7
LONGEST_EXACT = 9
LOGIT_ROWS = 4
GREEDY_TOKENS = 64


def make_checkpoint(engine: Path, layout: str, out: Path) -> None:
    """With the flags that engine/model/golden_layouts_test.cc has as a struct."""
    flags = [f"--{name}={value}" for name, value in SHAPE.items()]
    subprocess.run([engine, "make-model", "--layout", layout, *flags, out], check=True, stdout=subprocess.DEVNULL)


def round_to_fp8(x: torch.Tensor, scale: float | None) -> torch.Tensor:
    """To the nearest E4M3FN number of scale, saturating."""
    if scale is None:
        return x
    codes = (x / scale).clamp(-448, 448)
    middles.append(nearest_middle(codes))
    return codes.to(torch.float8_e4m3fn).to(x.dtype) * scale


middles: list[float] = []  # of the roundings since it was cleared


def nearest_middle(codes: torch.Tensor) -> float:
    """The least distance to the middle of two neighbouring codes, relative to the number or the root mean square.

    Numbers so small that it does not matter which of two codes they take are left out.
    """
    size = codes.abs()
    typical = size.square().mean().sqrt()
    spacing = torch.exp2(torch.floor(torch.log2(size.clamp(min=2.0**-6))) - 3)
    distance = ((size / spacing) % 1 - 0.5).abs() * spacing / torch.maximum(size, typical)
    return distance.masked_fill(spacing < typical * 2.0**-12, 1).min().item()


def round_activations(model: GptOssForCausalLM, scales: list[LayerScales]) -> None:
    """Rounds what an engine with static FP8 activations and keys rounds."""
    for layer, own in zip(model.model.layers, scales, strict=True):
        experts = layer.mlp.experts
        forward, gate = experts.forward, experts._apply_gate
        experts.forward = lambda x, *rest, f=forward, s=own.expert_input, **named: f(round_to_fp8(x, s), *rest, **named)
        experts._apply_gate = lambda x, g=gate, s=own.gated: round_to_fp8(g(x), s)
        layer.self_attn.fp8_scales = own
    plain = modeling_gpt_oss.eager_attention_forward

    def attention(module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *rest, **named):  # noqa: ANN002, ANN003, ANN202
        own = module.fp8_scales
        return plain(module, query, round_to_fp8(key, own.key), round_to_fp8(value, own.value), *rest, **named)

    modeling_gpt_oss.eager_attention_forward = attention


def load(folder: Path) -> GptOssForCausalLM:
    config, state, scales = read(folder)
    model = GptOssForCausalLM._from_config(
        GptOssConfig(**config), attn_implementation="eager", experts_implementation="eager", dtype=torch.float64
    )
    model.load_state_dict(state, strict=True)
    round_activations(model, scales)
    return model.double().eval()


def prompt(length: int, salt: int) -> list[int]:
    """Some tokens; whole-number arithmetic, so that they do not depend on a library's version."""
    return [(i * i * (31 + salt // 256) + i * 17 + length + salt) % SHAPE["vocab"] for i in range(length)]


@torch.no_grad()
def clear_prompt(model: GptOssForCausalLM, length: int) -> list[int]:
    """The first prompt of this length whose FP8 roundings are clear."""
    for salt in range(1000):
        ids = prompt(length, salt)
        middles.clear()
        if length > LONGEST_EXACT:
            return ids
        model(torch.tensor([ids]), use_cache=False)
        if min(middles, default=1.0) > NEAREST_MIDDLE:
            return ids
    raise RuntimeError(f"no clear prompt of {length} tokens")


@torch.no_grad()
def golden_tensors(model: GptOssForCausalLM, ids: list[int], index: int) -> dict[str, torch.Tensor]:
    """Greedy decoding runs without a cache, so it is the plain forward pass."""
    tokens = torch.tensor(ids)
    written, logits, gap = tokens, None, float("inf")
    for _ in range(GREEDY_TOKENS):
        rows = model(written[None], use_cache=False).logits[0]
        logits = rows if logits is None else logits
        best = rows[-1].topk(2)
        gap = min(gap, ((best.values[0] - best.values[1]) / rows.abs().max()).item())
        written = torch.cat([written, best.indices[:1]])
    print(f"  prompt of {len(ids)}: closest greedy decision {gap:.1e} of the largest logit")
    return {
        f"prompt_{index}": tokens,
        f"logits_{index}": logits[-LOGIT_ROWS:].float().contiguous(),
        f"greedy_{index}": written[len(ids) :].clone(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", type=Path, default=Path("build/release/bin/assay-engine"))
    parser.add_argument("--out", type=Path, default=Path("engine/model/testdata"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    plain = modeling_gpt_oss.eager_attention_forward
    for layout in LAYOUTS:
        modeling_gpt_oss.eager_attention_forward = plain
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "model"
            make_checkpoint(arguments.engine, layout, made)
            print(layout)
            model = load(made)
            digest = hashlib.sha256((made / "model.safetensors").read_bytes()).digest()
        tensors = {"weights_sha256": torch.tensor(list(digest), dtype=torch.uint8)}
        for index, length in enumerate(PROMPT_LENGTHS):
            tensors |= golden_tensors(model, clear_prompt(model, length), index)
        out = arguments.out / f"golden_{layout.replace('-', '_')}.safetensors"
        save_file(tensors, out)
        out.chmod(0o644)


if __name__ == "__main__":
    main()
