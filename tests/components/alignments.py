"""One small pair with random maps for the alignment view, and what must be shown of it, computed by NumPy."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from app.components.alignment import Backward, Gold, Joint, Pieces, Sentence, pack
from model.alignment import joint as both
from model.alignment.baseline import diagonal

ROOT = Path(__file__).resolve().parents[2]
LAYERS, HEADS = 2, 3
SOURCE = Sentence(("the", "old", "the", "<b>", "man"), ("", " ", " ", " ", " ", "."))
TARGET = Sentence(("le", "vieil", "homme", "是"), ("“", " ", " ", "", "”"))
PIECES = {
    "source": Pieces(("the", "old", "the", "<b", ">", "man", "</s>"), (0, 1, 2, 3, 3, 4, 5), (False,) * 6 + (True,)),
    "produced": Pieces(("le", "vi", "eil", "homme", "是", "</s>"), (0, 1, 1, 2, 3, 4), (False,) * 5 + (True,)),
    "read": Pieces(("<s>", "le", "vi", "eil", "homme", "是"), (4, 0, 1, 1, 2, 3), (True,) + (False,) * 5),
}
GOLD = Gold({(0, 0), (1, 1)}, {(4, 2)})


def maps(seed: int = 0) -> dict[str, np.ndarray]:
    """For each measure [layer, head and all together, row, column]; rows sum to 1."""
    generator = np.random.default_rng(seed)
    found = {}
    for measure in ("weights", "norms"):
        heads = generator.dirichlet(np.full(7, 0.4), size=(LAYERS, HEADS, 6))
        found[measure] = np.concatenate([heads, heads.mean(axis=1, keepdims=True)], axis=1).astype(np.float32)
    return found


def backward(seed: int = 1) -> Backward:
    """The reverse model's maps: five source words, four target words and an end token."""
    generator = np.random.default_rng(seed)
    found = {measure: generator.dirichlet(np.full(5, 0.4), size=5).astype(np.float32) for measure in ("weights", "norms")}
    return Backward("back-model, layer 1, head 2", found)


def joint(seed: int = 2) -> Joint:
    """Both directions at once: the mean of two guided heads between words, and the reverse model's."""
    given = maps()
    forward = {
        measure: ((words(found[1, 0], "produced") + words(found[0, 1], "read")) / 2)[:, :5].astype(np.float32)
        for measure, found in given.items()
    }
    generator = np.random.default_rng(seed)
    back = {measure: generator.dirichlet(np.full(4, 0.3), size=5).astype(np.float32) for measure in given}
    return Joint([(1, 0, "produced"), (0, 1, "read")], forward, back, both.ABOVE, both.MUTUAL)


def labels(language: str = "en") -> dict[str, str]:
    file = ROOT / "assets" / "text" / language / "studio_pair.toml"
    found: dict[str, str] = tomllib.loads(file.read_text(encoding="utf-8"))["alignment"]
    return found


def payload(defaults: Mapping[str, Any] | None = None, **options: Any) -> bytes:
    first = {
        "layer": 1,
        "head": 0,
        "row": "produced",
        "measure": "weights",
        "threshold": None,
        "second": "none",
        "method": "union",
    }
    given: dict[str, Any] = {
        "index": 1, "count": 3, "source": SOURCE, "target": TARGET, "pieces": PIECES, "weights": maps(), "backward": backward(),
        "gold": GOLD, "diagonal": diagonal(5, 4), "defaults": {**first, **(defaults or {})}, "text": labels(),
        "caption": {"file": "mine_$x$.tsv", "model": "tiny", "path": "decoder.layers.{layer}.cross_attention"},
    }  # fmt: skip
    return pack(**(given | options))


def words(pieces: np.ndarray, row: str) -> np.ndarray:
    """Between words: the sum over source pieces, the mean over target pieces; the end token is the last column."""
    rows, columns = np.array(PIECES[row].words), np.array(PIECES["source"].words)
    summed = np.stack([pieces[:, columns == word].sum(axis=1) for word in range(6)], axis=1)
    return np.stack([summed[rows == word].mean(axis=0) for word in range(4)])


def links(map_: np.ndarray, threshold: float | None = None, words: int = 5) -> set[tuple[int, int]]:
    """(column, row) of a map: of each row the largest column unless that is the end token, or all above the threshold."""
    if threshold is not None:
        return {(int(i), int(j)) for j, i in np.argwhere(map_[:, :words] > threshold)}
    return {(int(i), j) for j, i in enumerate(map_.argmax(axis=1)) if i < words}
