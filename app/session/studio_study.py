"""A study of the Alignment studio: pairs that a visitor brought, how they were read, and what a model made of them.

It lives in the session of its visitor and nowhere else. While the work runs, its thread appends to `results`; a page reads what
is there, and may change settings meanwhile: whatever changes results holds `lock`. `results` and `reversed` have the order of
`entries`.
"""

import io
import math
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeVar

from model.alignment.corpus import JOINT, Aligned, Settings, WeightedLink
from model.alignment.formats import Alignments, Entry, GoldLinks, Pairs, Problem
from model.alignment.heads import links as links_of_head
from model.alignment.symmetrize import symmetrize

State = Literal["ready", "waiting", "running", "done", "cancelled", "failed"]
Made = TypeVar("Made")
UNDER_WAY: tuple[State, ...] = ("waiting", "running")


class File(NamedTuple):
    """A file that was brought: its name, which is text and never a path, and its bytes."""

    name: str
    content: bytes

    def stream(self) -> io.BytesIO:
        """The bytes as a named stream, as the readers take it."""
        made = io.BytesIO(self.content)
        made.name = self.name
        return made


class Upload(NamedTuple):
    """What a visitor brought: one file of pairs or two parallel ones, and perhaps one of links."""

    files: tuple[File, ...]
    links: File | None = None
    name: str = ""  # what the study is called
    pasted: bool = False
    spare: tuple[str, ...] = ()  # names of further files of links, which are not read


@dataclass(frozen=True)
class Reading:
    """What the visitor corrected about the reading of the files; None where it is as found.

    `model`: the one that was asked for, whatever the pairs look like. `swap`: the second column (or file) is the source. `match`:
    how cues of subtitles find their partners. `base` and `reverse_links` are of the file of links.
    """

    model: str | None = None
    format: str | None = None
    encoding: str | None = None
    columns: tuple[int, int] | None = None
    header: bool | None = None
    swap: bool = False
    match: Literal["time", "number"] = "time"
    links_format: str | None = None
    base: int | None = None
    reverse_links: bool = False


@dataclass(eq=False)
class Study:
    """One study. `gold[index]` is None where nothing is known of that pair; `edits` are made by hand and go before it."""

    upload: Upload
    reading: Reading
    pairs: Pairs
    entries: list[Entry]
    problems: list[Problem]
    model: str
    reverse: str | None
    settings: Settings
    languages: tuple[str, str]
    gold: list[GoldLinks | None] = field(default_factory=list)
    links: Alignments | None = None
    flags: list[frozenset[str]] = field(default_factory=list)  # of each pair, before any work: see studio_pairs.FLAGS
    edits_by_words: dict[bool, dict[int, GoldLinks]] = field(default_factory=lambda: {False: {}, True: {}})  # see `edits`
    forward: list[Aligned] = field(default_factory=list)  # as the model gave them
    reversed: list[Aligned] = field(default_factory=list)  # of the reverse model, source and target changed over
    results: list[Aligned] = field(default_factory=list)  # `forward`, with the links of now where that needs no model
    translated: set[int] = field(default_factory=set)  # pairs whose target the model wrote
    state: State = "ready"
    reason: str = ""
    computed: Settings | None = None  # with which the weights and scores of the results were computed
    computed_by: str = ""  # and by which model,
    computed_with: str = ""  # and which reverse model, if any
    version: int = 0  # grows with everything that changes what a list or an export shows
    links_version: int = 0  # grows where that is more than links by hand
    restarts: int = 0  # how often the work was begun again
    kept: dict[str, tuple[object, Any]] = field(default_factory=dict, repr=False)  # what `once` made
    began: float = 0.0
    begun_with: int = 0  # results that were there when the work began
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    token: str = field(default_factory=lambda: secrets.token_hex(4))  # tells this study from others of the session

    @property
    def name(self) -> str:
        """What the upload is called: text of the visitor."""
        return self.upload.name

    @property
    def total(self) -> int:
        return len(self.entries)

    @property
    def done(self) -> int:
        return len(self.results)

    @property
    def split_punctuation(self) -> bool:
        return self.settings.split_punctuation

    @property
    def words_split(self) -> bool:
        """The same in the results that are there, and so in all that counts their words; a new setting waits for new results."""
        return self.computed.split_punctuation if self.computed and self.results else self.split_punctuation

    @property
    def edits(self) -> dict[int, GoldLinks]:
        """The links made by hand, by pair. Those between words counted in one way say nothing of words counted in the other."""
        return self.edits_by_words[self.words_split]

    @property
    def made_by(self) -> tuple[str, str, Settings]:
        """Model, reverse model ("" for none) and settings that the links of the results are of."""
        if self.computed is None or self.links_follow():
            return self.model, self.reverse if self.settings.symmetrize and self.reverse else "", self.settings
        return self.computed_by, self.computed_with, self.computed

    @property
    def alone(self) -> bool:
        """Whether sources were brought alone, so that the model writes the targets."""
        return self.pairs.alone

    @property
    def under_way(self) -> bool:
        return self.state in UNDER_WAY

    @property
    def seconds_left(self) -> float | None:
        """How long the work may still take, at the pace so far; None while nothing is known."""
        fresh = self.done - self.begun_with
        if self.state != "running" or fresh <= 0:
            return None
        return (time.monotonic() - self.began) / fresh * (self.total - self.done)

    def flags_at(self, index: int) -> frozenset[str]:
        """What looks wrong about a pair: see studio_pairs.FLAGS."""
        failed = index < self.done and self.results[index].problem is not None
        return self.flags[index] | {"problem"} if failed else self.flags[index]

    def gold_of(self, index: int) -> GoldLinks | None:
        """What is taken to be right of a pair: what the visitor linked by hand, else the gold that came along."""
        return self.edits.get(index) or (self.gold[index] if index < len(self.gold) else None)

    def has_gold(self) -> bool:
        """Whether anything is taken to be right of any pair."""
        return bool(self.edits) or self.once("gold", (), lambda: any(links is not None for links in self.gold))

    def once(self, name: str, key: object, make: Callable[[], Made]) -> Made:
        """What `make` returned for this key; of each name one is kept. A page is drawn again at every click."""
        found = self.kept.get(name)
        if found is None or found[0] != key:
            found = self.kept[name] = (key, make())
        made: Made = found[1]
        return made

    @property
    def links_key(self) -> tuple[int, int]:
        """Tells apart what the links and scores of the results may be."""
        return self.links_version, self.done

    def stale(self) -> bool:
        """Whether weights and scores are still those of an earlier choice, model or measure."""
        return bool(self.results) and (self.computed != self.settings or self.computed_by != self.model)

    def suffices(self, settings: Settings) -> bool:
        """Whether links under these settings can be read off what is there: the best source word of every choice.

        Norms, another splitting, a new threshold need the model again; so does symmetrisation without the reverse direction.
        """
        computed = self.computed
        if computed is None or self.computed_by != self.model:
            return False
        if (computed.measure, computed.split_punctuation) != (settings.measure, settings.split_punctuation):
            return False
        if settings.threshold is not None or settings.symmetrize == JOINT:
            return settings == computed
        return settings.symmetrize is None or (computed.threshold is None and len(self.reversed) == len(self.forward) > 0)

    def links_follow(self) -> bool:
        """Whether the links are those of the settings of now, if not the weights and scores (see `stale`)."""
        return self.suffices(self.settings)

    def take(self, forward: list[Aligned], backward: list[Aligned]) -> None:
        """The next results of the work, in order."""
        with self.lock:
            self.forward.extend(forward)
            self.reversed.extend(backward)
            self._follow(len(self.results))

    def use(self, settings: Settings) -> None:
        """Take these settings; where they need no model, the links follow at once."""
        with self.lock:
            self.settings = settings
            self._follow(0)

    def _follow(self, begin: int) -> None:
        if self.suffices(self.settings):
            self.results[begin:] = [self._linked(index) for index in range(begin, len(self.forward))]
        else:
            self.results[begin:] = self.forward[begin:]
        self.changed()

    def changed(self) -> None:
        """What is computed has changed."""
        self.version += 1
        self.links_version += 1

    def change_model(self, name: str, reverse: str | None, settings: Settings, flags: list[frozenset[str]]) -> None:
        """Let another model align; until it has, what is there is of the one before."""
        with self.lock:
            self.model, self.reverse, self.flags = name, reverse, flags
            self.use(settings)

    def begin_again(self) -> None:
        """Forget what was computed; the pairs, the gold and what was linked by hand stay."""
        self.restarts += 1
        with self.lock:
            for part in (self.forward, self.reversed, self.results):
                part.clear()
            for index in self.translated:
                self.entries[index] = replace(self.entries[index], target="")
            self.translated.clear()
            self.changed()

    def _linked(self, index: int) -> Aligned:
        """A result with the links of the settings of now; of those that are read off by argmax the weight is not known (NaN)."""
        aligned, settings = self.forward[index], self.settings
        if settings == self.computed or aligned.problem is not None:
            return aligned
        assert settings.choice is not None
        links = links_of_head(aligned, settings.choice)
        if settings.symmetrize:
            backward = {(link.target, link.source) for link in self.reversed[index].links}
            links = symmetrize(links, backward, settings.symmetrize)
        return replace(aligned, links=tuple(WeightedLink(*link, math.nan) for link in sorted(links)))
