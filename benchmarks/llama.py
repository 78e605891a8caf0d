"""Rotation by halves beside the LLaMA of Hugging Face itself: the largest difference, in float32. No speed is measured.

The tests hold the same formula against one written out by hand; here the code that others run is asked.
"""

import sys

import torch

from benchmarks.rivals import ADVICE
from model.position import rotate

HEADS, HEAD_DIM, LENGTH = 4, 64, 128
STARTS = (0, 3, 1000)
ROUNDING = 2.0**-23  # they work out angles in float32: the farther the position, the fewer digits are left behind its point
LARGEST = 5  # no number of a normal draw of this size is larger


def difference(start: int) -> float:
    """The largest difference between turned queries and keys at positions `start` and on."""
    try:
        from transformers.models.llama import modeling_llama as llama
    except ImportError:
        sys.exit(ADVICE)
    generator = torch.Generator().manual_seed(0)
    query, key = (torch.randn(1, HEADS, LENGTH, HEAD_DIM, generator=generator) for _ in range(2))
    positions = torch.arange(start, start + LENGTH)
    config = llama.LlamaConfig(hidden_size=HEADS * HEAD_DIM, num_attention_heads=HEADS, num_key_value_heads=HEADS)
    theirs = llama.apply_rotary_pos_emb(query, key, *llama.LlamaRotaryEmbedding(config)(query, positions[None]))
    ours = (rotate(x, positions, pairing="half") for x in (query, key))
    return max(float((own - other).abs().max()) for own, other in zip(ours, theirs, strict=True))


def main() -> None:
    print(__doc__.splitlines()[0])
    found = {start: difference(start) for start in STARTS}
    for start, largest in found.items():
        print(f"positions {start} to {start + LENGTH - 1}: {largest:.1e}")
    if any(largest > LARGEST * (start + LENGTH) * ROUNDING for start, largest in found.items()):
        sys.exit("These do not agree: one of the two turns otherwise.")


if __name__ == "__main__":
    main()
