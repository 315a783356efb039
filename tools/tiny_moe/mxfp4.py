"""MXFP4: blocks of 32 values along the input axis, E2M1 elements, one E8M0 scale a block.

The scale is the smallest power of two that clips nothing (largest magnitude / 6, rounded up); elements are rounded to
the nearest grid value, ties to even. Rounding what is already rounded changes nothing.
"""

from __future__ import annotations

import torch

BLOCK = 32
_VALUES = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
_SMALLEST = 2.0**-100  # keeps the scale of an all-zero block away from zero


def _scale_bits(blocks: torch.Tensor) -> torch.Tensor:
    """float32 bits of each block's scale, for blocks [..., 32]."""
    largest = blocks.abs().amax(dim=-1, keepdim=True).clamp(min=_SMALLEST)
    return ((largest / 6.0).view(torch.int32) + 0x007FFFFF) & 0x7F800000


def _to_grid(magnitude: torch.Tensor) -> torch.Tensor:
    """Nearest E2M1 magnitude; torch.round already breaks ties to even."""
    fine = torch.round(magnitude * 2.0) * 0.5
    middle = torch.round(magnitude)
    coarse = torch.round(magnitude * 0.5) * 2.0
    return torch.where(magnitude < 2.0, fine, torch.where(magnitude < 4.0, middle, coarse))


def round_trip(weight: torch.Tensor) -> torch.Tensor:
    """`weight` [experts, input, output] float32 as MXFP4 would hold it."""
    experts, inputs, outputs = weight.shape
    blocks = weight.transpose(1, 2).reshape(experts, outputs, inputs // BLOCK, BLOCK)
    scale = _scale_bits(blocks).view(torch.float32)
    rounded = torch.copysign(_to_grid((blocks / scale).abs()), blocks) * scale
    return rounded.reshape(experts, outputs, inputs).transpose(1, 2)


def pack(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """`weight` [experts, input, output] as bytes and scales.

    Bytes are [experts, output, input / 32, 16] and scales [experts, output, input / 32]. The low nibble of a byte is
    the earlier element.
    """
    experts, inputs, outputs = weight.shape
    blocks = weight.float().transpose(1, 2).reshape(experts, outputs, inputs // BLOCK, BLOCK).contiguous()
    bits = _scale_bits(blocks)
    scaled = blocks / bits.view(torch.float32)
    code = torch.searchsorted(_VALUES, _to_grid(scaled.abs())).to(torch.uint8)
    code = code | ((scaled < 0).to(torch.uint8) << 3)
    packed = code[..., 0::2] | (code[..., 1::2] << 4)
    return packed, (bits >> 23).squeeze(-1).to(torch.uint8)


def unpack(packed: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """The inverse of `pack`, float32 [experts, input, output]."""
    code = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(-2)
    values = torch.cat([_VALUES, -_VALUES])[code.int()]
    blocks = torch.ldexp(values, (scales.int() - 127).unsqueeze(-1))
    return blocks.flatten(-2).transpose(1, 2)
