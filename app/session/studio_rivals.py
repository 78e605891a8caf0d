"""What stands beside the model in a study: a statistical aligner, another model, a file of links. Each is one visitor's own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, cast

import streamlit as st

from app.session.loading import languages, load
from app.session.rates import allowed
from app.session.studio_reading import check_size, first_settings, keep_head, translators, usual
from app.session.studio_study import UNDER_WAY, File, State, Study, Upload
from app.session.studio_table import Links, links_of, pairs_of, scored
from app.session.studio_work import Alignments, Job
from app.session.training import is_here, owner
from model.alignment import baseline, statistical
from model.alignment.compare import Difference, Measured, agreement, differing, measured
from model.alignment.extract import Choice
from model.alignment.heads import Scoreboard, Tally, scoreboard
from model.alignment.pharaoh import Link
from model.translator import Translator

if TYPE_CHECKING:
    from model.alignment.corpus import Aligned
    from model.alignment.formats import Entry, GoldLinks, Problem

Kind = Literal["statistical", "model", "reverse", "file", "matrices"]
JOINED = "grow-diag-final-and"

_RIVALS = "atlas_rivals"
_WAIT = 0.2  # seconds between two looks at whether somebody still wants what is waited for

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Rival:
    """One of them. `study` is that of another model; `sides` hold the links of each pair by the id of the side."""

    kind: Kind
    name: str  # of the aligner, of the model, of the file (text of the visitor)
    state: State = "waiting"
    share: float = 0.0
    reason: str = ""
    cancelled: bool = False
    sides: dict[str, Links] = field(default_factory=dict)
    little: int = 0  # pairs that a statistical aligner had, where they are few
    problems: list[Problem] = field(default_factory=list)
    study: Study | None = None

    @property
    def under_way(self) -> bool:
        return self.now in UNDER_WAY

    @property
    def now(self) -> State:
        """The state, of whoever does the work."""
        return self.study.state if self.study else self.state

    @property
    def why(self) -> str:
        """Why it failed, if it did."""
        return self.study.reason if self.study else self.reason

    @property
    def done(self) -> float:
        """The share that is done, 0 to 1."""
        return self.study.done / max(1, self.study.total) if self.study else self.share


@st.cache_resource(show_spinner=False)
def _comparisons() -> Alignments:
    """Passes of other models, one at a time for the whole server; a session may wait for several."""
    return Alignments(1, lambda name: is_here(name.partition("\n")[0]))


@st.cache_resource(show_spinner=False)
def _slot() -> threading.Semaphore:
    """One statistical aligner learns at a time."""
    return threading.Semaphore(1)


def rivals(study: Study) -> dict[str, Rival]:
    """Those of this study, in the order in which they were asked for; of another study, and of what was left, nothing stays."""
    token, found = cast("tuple[str, dict[str, Rival]]", st.session_state.get(_RIVALS, ("", {})))
    if token != study.token:
        for rival in found.values():
            rival.cancelled = True
        found = {}
        st.session_state[_RIVALS] = (study.token, found)
    for id in [id for id, rival in found.items() if rival.now == "cancelled"]:  # its visitor was away; it can be asked for again
        del found[id]
    return found


def add_statistical(study: Study, model: str) -> None:
    """Let a statistical aligner learn from the pairs that are aligned so far."""
    if not allowed("alignment"):
        return
    rival = rivals(study)[f"statistical:{model}"] = Rival("statistical", model)
    pairs = [(one.source_words, one.target_words) for one in study.results]
    session = owner()
    arguments = (rival, pairs, _slot(), lambda: not rival.cancelled and is_here(session))
    threading.Thread(target=_learn, args=arguments, daemon=True, name="statistical").start()


def add_model(study: Study, name: str, *, reverse: bool = False) -> None:
    """Let another model align the same pairs; `reverse`: one of the other direction, whose source is our target."""
    if not allowed("alignment"):
        return
    kind: Kind = "reverse" if reverse else "model"
    texts = [(one.target, one.source) if reverse else (one.source, one.target) for one in study.results]
    entries: list[Entry] = [
        replace(entry, source=source, target=target) for entry, (source, target) in zip(study.entries, texts, strict=False)
    ]
    other = Study(
        upload=Upload((), name=study.name),
        reading=study.reading,
        pairs=study.pairs,
        entries=entries,
        problems=[],
        model=name,
        reverse=None,
        settings=first_settings(name, split_punctuation=study.split_punctuation),
        languages=study.languages[::-1] if reverse else study.languages,
    )
    atlas = load(name)
    assert isinstance(atlas, Translator)
    rivals(study)[f"{kind}:{name}"] = Rival(kind, name, study=other)
    _comparisons().submit(Job(f"{owner()}\n{kind}:{name}", other, atlas))


def add_file(study: Study, file: File) -> None:
    """Read links of the same pairs from a file; what cannot be read says why."""
    from model.alignment import formats

    if not allowed("upload"):
        return
    rival = rivals(study)[f"file:{file.name}"] = Rival("file", file.name, state="done", share=1.0)
    try:
        check_size(file)
        counted = [(" ".join(one.source_words), " ".join(one.target_words)) for one in study.results]  # as on the other sides
        found = formats.read_alignments(file.stream(), pairs=counted)
        rival.sides["file"] = [frozenset(row.sure | row.possible) for row in found.rows]
        rival.problems = list(found.problems)
    except formats.FormatError as error:
        rival.state, rival.problems = "failed", [error.problem]


def cancel_rival(study: Study, id: str) -> None:
    """Stop it; its entry is taken away."""
    rival = rivals(study).pop(id, None)
    if rival is not None:
        rival.cancelled = True
        if rival.study is not None:
            _comparisons().cancel(f"{owner()}\n{id}")


def sides(study: Study) -> dict[str, Links]:
    """Links of every pair by the id of the side: the model with its settings, the diagonal, and the rivals that are done."""
    found = {"ours": links_of(study), "diagonal": study.once("diagonal", study.links_key, lambda: _diagonals(study))}
    for id, rival in rivals(study).items():
        if (other := rival.study) is not None:
            turn = rival.kind == "reverse"
            found[id] = other.once(
                "side",
                (other.links_key, turn),
                lambda other=other, turn=turn: _links_of(other, turn=turn),  # type: ignore[misc]
            )
        for side, links in rival.sides.items():
            found[f"{id}:{side}"] = links
    return found


def _diagonals(study: Study) -> Links:
    """Kept by lengths: there are far fewer of them than pairs."""
    known: dict[tuple[int, int], frozenset[Link]] = {}
    sizes = [(len(one.source_words), len(one.target_words)) for one in study.results]
    for size in {*sizes}:
        known[size] = frozenset(baseline.diagonal(*size))
    return [known[size] for size in sizes]


def _links_of(study: Study, *, turn: bool) -> Links:
    return [pairs_of(one.links, turn=turn) if one.problem is None else None for one in study.results]


def measured_side(study: Study, id: str, links: Links) -> Measured | None:
    """How well a side agrees with what is taken to be right; None where nothing is."""
    if not study.has_gold():
        return None
    key = study.links_key if id == "ours" else _key(study, links)  # ours are counted for the list as well
    counts = scored(study, id, key, lambda: links)
    return study.once(f"measured {id}", (key, study.version), lambda: measured(counts[counts[:, 0] >= 0]))


def agreement_of(study: Study, first: tuple[str, Links], second: tuple[str, Links]) -> float | None:
    """How far two sides agree; None where they have no pair in common."""
    key = _key(study, first[1]), _key(study, second[1])
    return study.once(f"agreement {first[0]} {second[0]}", key, lambda: agreement(first[1], second[1]))


def differing_pairs(study: Study, first: tuple[str, Links], second: tuple[str, Links], most: int) -> list[Difference]:
    """The pairs on which two sides differ most."""
    key = first[0], second[0], _key(study, first[1]), _key(study, second[1]), most
    return study.once("differing", key, lambda: differing(first[1], second[1], most))


def _key(study: Study, links: Links) -> tuple[object, ...]:
    """Tells lists of links apart: a list is never changed, and whoever keeps the key keeps the list."""
    return study.links_key, _Same(links)


@dataclass(frozen=True, eq=False)
class _Same:
    """Equal where it is the very same list."""

    links: Links

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.links is self.links

    def __hash__(self) -> int:
        return id(self.links)


def head_scores(study: Study) -> Scoreboard | None:
    """Every layer, head and row against the gold; without gold, against the reverse direction where it was aligned, else None."""
    if study.has_gold():
        scores = study.once("heads", (study.computed_by, study.computed, study.restarts), lambda: _Heads())
        return scores.scoreboard(study)
    turned = _reversed(study)
    if not turned:
        return None
    key = (study.computed_by, study.computed, study.restarts, len(study.forward), len(turned))
    return study.once("heads_agree", key, lambda: scoreboard(list(study.forward), None, turned))


class _Heads:
    """Scores of every choice that follow the work and what the visitor links by hand: only what is new is counted."""

    def __init__(self) -> None:
        self.tally, self.counted = Tally("aer"), 0
        self.edits: dict[int, GoldLinks] = {}

    def scoreboard(self, study: Study) -> Scoreboard:
        forward = list(study.forward)
        if self.edits != study.edits:
            edits = dict(study.edits)
            for index in {*self.edits, *edits}:
                if index < self.counted and self.edits.get(index) != edits.get(index):
                    self.tally.add(forward[index], self._gold(study, index, self.edits), -1)
                    self.tally.add(forward[index], self._gold(study, index, edits))
            self.edits = edits
        for index in range(self.counted, len(forward)):
            self.tally.add(forward[index], self._gold(study, index, self.edits))
        self.counted = len(forward)
        return self.tally.scoreboard()

    @staticmethod
    def _gold(study: Study, index: int, edits: Mapping[int, GoldLinks]) -> GoldLinks | None:
        return edits.get(index) or (study.gold[index] if index < len(study.gold) else None)


def _reversed(study: Study) -> list[Aligned]:
    """The pairs as the model of the other direction aligned them, as far as it came."""
    if study.reversed:
        return list(study.reversed)
    found = next((rival.study for rival in rivals(study).values() if rival.kind == "reverse" and rival.study), None)
    return list(found.forward) if found else []


def models_alike(name: str) -> tuple[str, ...]:
    """Other models that read and write the same languages."""
    return tuple(other for other in translators() if other != name and languages(other)[:2] == languages(name)[:2])


def guided_heads(name: str) -> list[Choice]:
    """The heads that were taught links, by the card of the model."""
    return [Choice(entry["layer"], entry["head"], entry["row"]) for entry in load(name).card.get("guided", ())]


def use_head(study: Study, choice: Choice) -> None:
    """Align with this head, now and whenever this visitor takes this model again; a threshold was another head's."""
    keep_head(study.model, choice)
    study.use(usual(study.model, replace(study.settings, choice=choice)))


def _learn(
    rival: Rival, pairs: list[tuple[tuple[str, ...], tuple[str, ...]]], slot: threading.Semaphore, goes_on: Callable[[], bool]
) -> None:
    while not slot.acquire(timeout=_WAIT):
        if not goes_on():
            rival.state = "cancelled"
            return
    try:
        rival.state = "running"

        def told(share: float) -> None:
            rival.share = share

        learned = statistical.align(pairs, rival.name, progress=told, stop=lambda: not goes_on())
        rival.little = learned.pairs if learned.little else 0
        rival.sides = {
            "forward": list(learned.forward),
            "reverse": list(learned.reverse),
            "joined": list(learned.symmetrized(JOINED)),
        }
        rival.state = "done"
    except statistical.StoppedError:
        rival.state = "cancelled"
    except Exception as error:  # told on the page; its traceback belongs in the log of the server
        logger.exception("%s failed", rival.name)
        rival.state, rival.reason = "failed", f"{type(error).__name__}: {error}"[:300]
    finally:
        slot.release()
