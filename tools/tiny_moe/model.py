"""The shape of the model, and how it is built for training."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.utils import parametrize
from transformers import GptOssConfig, GptOssForCausalLM

from harmony import SPECIAL_TOKENS
from make_tokenizer import VOCABULARY
from mxfp4 import round_trip

LAYERS = 4
CONTEXT = 131072

_ROPE_SCALING: dict[str, Any] = {
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "factor": 32.0,
    "original_max_position_embeddings": 4096,
    "rope_type": "yarn",
    "truncate": False,
}


def special_id(token: str) -> int:
    """Special tokens follow the byte-level vocabulary."""
    return VOCABULARY - len(SPECIAL_TOKENS) + SPECIAL_TOKENS.index(token)


def config_fields() -> dict[str, Any]:
    """config.json of the stored model."""
    return {
        "architectures": ["GptOssForCausalLM"],
        "attention_bias": True,
        "attention_dropout": 0.0,
        "eos_token_id": special_id("<|return|>"),
        "experts_per_token": 4,
        "head_dim": 32,
        "hidden_act": "silu",
        "hidden_size": 192,
        "initial_context_length": 4096,
        "initializer_range": 0.02,
        "intermediate_size": 192,
        "layer_types": ["sliding_attention", "full_attention"] * (LAYERS // 2),
        "max_position_embeddings": CONTEXT,
        "model_type": "gpt_oss",
        "num_attention_heads": 8,
        "num_experts_per_tok": 4,
        "num_hidden_layers": LAYERS,
        "num_key_value_heads": 2,
        "num_local_experts": 32,
        "output_router_logits": False,
        "pad_token_id": special_id("<|endoftext|>"),
        "quantization_config": {
            "modules_to_not_convert": [
                "model.layers.*.self_attn",
                "model.layers.*.mlp.router",
                "model.embed_tokens",
                "lm_head",
            ],
            "quant_method": "mxfp4",
        },
        "rms_norm_eps": 1e-05,
        "rope_scaling": dict(_ROPE_SCALING),
        "rope_theta": 150000,
        "router_aux_loss_coef": 0.9,
        "sliding_window": 128,
        "swiglu_limit": 7.0,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "use_cache": True,
        "vocab_size": VOCABULARY,
    }


def training_config() -> GptOssConfig:
    """The configuration without quantisation: training holds float32 weights and rounds them itself."""
    left_out = {"quantization_config", "torch_dtype", "architectures", "model_type"}
    return GptOssConfig(**{key: value for key, value in config_fields().items() if key not in left_out})


class Mxfp4Rounding(torch.nn.Module):
    """Rounds expert weights in the forward pass once switched on; gradients pass straight through."""

    def __init__(self) -> None:
        super().__init__()
        # A tensor, not a flag, so that switching does not recompile the model.
        self.register_buffer("on", torch.zeros(()))

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        """bfloat16 holds every MXFP4 value exactly."""
        rounded = weight + self.on * (round_trip(weight) - weight).detach()
        return rounded.to(torch.bfloat16)


EXPERT_WEIGHTS = ("gate_up_proj", "down_proj")


def build(experts_implementation: str) -> tuple[GptOssForCausalLM, list[Mxfp4Rounding]]:
    """A freshly initialised float32 model on the default device, and the switches of its rounding."""
    model = GptOssForCausalLM._from_config(
        training_config(),
        attn_implementation="eager",
        experts_implementation=experts_implementation,
        dtype=torch.float32,
    )
    switches = []
    for layer in model.model.layers:
        for name in EXPERT_WEIGHTS:
            switches.append(Mxfp4Rounding())
            parametrize.register_parametrization(layer.mlp.experts, name, switches[-1], unsafe=True)
    return model, switches


def plain_state(model: GptOssForCausalLM) -> dict[str, torch.Tensor]:
    """The state dict with the unrounded expert weights under their usual names."""
    state = {}
    for name, tensor in model.state_dict().items():
        if name.endswith(".on"):
            continue
        state[name.replace(".parametrizations", "").replace(".original", "")] = tensor.detach().cpu()
    return state
