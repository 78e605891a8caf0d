"""Attention matrices that people bring as files, as traces: whatever shows a trace shows them.

`read(data, name)` knows, by what stands in a file,

- NPZ of our own export (arrays by path) and of the studio (`pair_1_weights`), and the same names as JSON
- JSON as BertViz takes it: `attention` with `tokens`, or `encoder_attention`, `decoder_attention`, `cross_attention`
- NPZ or JSON with `attention` (layers, heads, queries, keys) and `query_tokens`, `key_tokens`, as Inspectus takes it
- soft alignments of Marian (one line a sentence), of Sockeye and Nematus (a block a sentence), of Nematus as JSON (links)

Nothing is ever unpickled. What is wrong is said by `MatrixError`: which axis, what was given, what is needed.
"""

from model.adapters.matrices.checks import LARGEST_FILE, Map, MatrixError
from model.adapters.matrices.reading import Matrices, read

__all__ = ["LARGEST_FILE", "Map", "Matrices", "MatrixError", "read"]
