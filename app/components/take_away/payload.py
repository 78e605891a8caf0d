"""What the buttons are told, and what the server answers: a JSON header and after it, where something was asked for, its bytes.

Layout: uint32 header length (little-endian), UTF-8 JSON header, the answer's bytes.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model.page.document import CONTENTS, LIMIT

LABELS: tuple[str, ...] = (
    "name", "pack", "pack_hint", "page", "page_hint", "working", "saved", "failed", "nothing", "too_large", "reopen",
    "no_numbers",
)  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """To the question of this number: bytes, or None where they could not be made."""

    number: str
    content: bytes | None


def pack(
    *,
    page: str,
    title: str,
    model: str,
    language: str,
    lines: Sequence[str],
    notes: Sequence[str],
    numbers: str,
    text: Mapping[str, str],
    answer: Answer | None = None,
) -> bytes:
    """One message.

    `lines` begin the text of a pack, `notes` stand below the title of a saved page; `numbers` says what the page's NPZ holds, and
    is empty where it has none. `text` has a sentence for every name in `LABELS`.
    """
    header: dict[str, object] = {
        "page": page, "title": title, "model": model, "language": language, "lines": list(lines), "notes": list(notes),
        "numbers": numbers, "limit": LIMIT, "place": CONTENTS, "text": {label: text[label] for label in LABELS},
    }  # fmt: skip
    header["digest"] = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=12).hexdigest()
    if answer:
        header["answer"] = {"number": answer.number, "failed": answer.content is None}
    encoded = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return len(encoded).to_bytes(4, "little") + encoded + ((answer.content if answer else None) or b"")


def unpack(message: bytes) -> tuple[dict[str, object], bytes]:
    """The header and the answer's bytes."""
    length = int.from_bytes(message[:4], "little")
    header: dict[str, object] = json.loads(message[4 : 4 + length])
    return header, message[4 + length :]
