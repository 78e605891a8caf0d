"""Attention matrices that people bring as files, as traces: whatever shows a trace shows them.

`read(data, name)` knows, by what stands in a file,

- NPZ of our own export (arrays by path) and of the studio (`pair_1_weights`), and the same names as JSON
- JSON as BertViz takes it: `attention` with `tokens`, or `encoder_attention`, `decoder_attention`, `cross_attention`
- NPZ or JSON with `attention` (layers, heads, queries, keys) and `query_tokens`, `key_tokens`, as Inspectus takes it
- soft alignments of Marian (one line a sentence), of Sockeye and Nematus (a block a sentence), of Nematus as JSON (links)
- NPY, and NPZ of arrays without names: positions stand for tokens

Text may be in any encoding that `model.alignment.formats` finds. Nothing is ever unpickled. What is wrong is said by
`MatrixError`: which axis, what was given, what is needed; what is doubtful and shown all the same, by the `doubts` of what
was read.
"""

from model.adapters.matrices.checks import LARGEST, LONGEST, Map
from model.adapters.matrices.problem import MESSAGES, MatrixError
from model.adapters.matrices.reading import Doubt, Limits, Matrices, read

__all__ = ["LARGEST", "LONGEST", "MESSAGES", "Doubt", "Limits", "Map", "Matrices", "MatrixError", "read"]
