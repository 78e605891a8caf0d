"""The steps of an output as the component draws them, in one message of UTF-8 JSON: twenty candidates a step are few numbers."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

LABELS: tuple[str, ...] = (
    "title", "keys", "step", "previous", "next", "play", "stop", "reads", "produces", "position", "logits", "logit",
    "divided", "probability", "final", "others", "cut_k", "cut_p", "kept", "drawn", "choice_greedy", "choice_drawn",
    "choice_given", "triangle", "triangle_first", "triangle_later", "triangle_bytes", "type", "type_hint", "go", "back",
    "said_step", "said", "said_cut_k", "said_cut_p", "said_taken", "said_others", "take",
    "table", "table_rank", "table_token", "table_id", "table_cut", "png", "svg", "csv", "copy_link", "copied", "copy_failed",
    "caption_sentence", "caption_step", "caption_greedy", "caption_sampling",
)  # fmt: skip


@dataclass(frozen=True)
class Cut:
    """One candidate: what the component draws and says of it. `cut`: "k", "p" or "" where it may be drawn."""

    id: int
    label: str
    rank: int
    logit: float
    divided: float | None
    probability: float
    cut: str
    final: float


@dataclass(frozen=True)
class Moment:
    """One step; `candidates` best first, `weights` over the keys."""

    read: str
    taken: str
    id: int
    given: bool
    candidates: Sequence[Cut]
    others: int
    others_probability: float
    others_final: float
    kept: int
    log_probability: float
    drawn: float | None
    low: float
    high: float
    weights: Sequence[float]
    bytes: int


@dataclass(frozen=True)
class Settings:
    """How it was written: kind "greedy" or "sampling"; `first` tokens were read before the first step, `heads` of an attention;
    `vocab` entries of the vocabulary; `role` "source" or "target" colours the keys; `looks` says whose weights are shown.
    """

    kind: str
    temperature: float
    top_k: int | None
    top_p: float
    seed: int
    first: int
    heads: int
    vocab: int
    role: str
    looks: str
    path: str


def pack(
    moments: Sequence[Moment], keys: Sequence[str], settings: Settings, *, text: Mapping[str, str], caption: Mapping[str, str]
) -> bytes:
    """All steps in one message.

    `keys` label what the weights run over. `text` holds a translated sentence for every name in `LABELS`, `caption` the "model",
    "source" and "target" that exports name.
    """
    for moment in moments:
        if len(moment.weights) != len(keys):
            raise ValueError(f"{len(moment.weights)} weights for {len(keys)} keys; give one for each")
    header: dict[str, Any] = {
        "moments": [_short(moment) for moment in moments],
        "keys": list(keys),
        **asdict(settings),
        "text": {label: text[label] for label in LABELS},
        "caption": dict(caption),
    }
    body = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
    return body[:-1] + f',"digest":"{hashlib.blake2b(body, digest_size=12).hexdigest()}"}}'.encode()


def _short(value: Any) -> Any:
    """Numbers with eight digits, which is what they are known to: half of the message."""
    if isinstance(value, float):
        return float(f"{value:.8g}")
    if isinstance(value, Moment | Cut):
        return {name: _short(member) for name, member in vars(value).items()}
    return [_short(member) for member in value] if isinstance(value, list | tuple) else value


def unpack(message: bytes) -> dict[str, Any]:
    """What the component is told."""
    found: dict[str, Any] = json.loads(message)
    return found
