"""The models of the operator's list that are in memory: each loaded once for all, and put away when nobody uses it.

`begin` starts a thread and returns at once, `take` waits for the model. One is loaded at a time. What was computed with a model
lies beside it (`Place.kept`) and goes with it.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.session import listed
from app.session.bringing import STEPS, RefusedError, bring
from app.session.listed_file import Listed
from app.session.remark import Remark
from app.session.results import Kept
from app.session.turns import turns
from model.adapters.hugging_face import Folder
from model.adapters.hugging_face.folder import available_memory
from model.adapters.hugging_face.models import AnyHuggingFace
from model.checkpoint import CheckpointError

BUSY = 120.0  # seconds in which a model that somebody used is not put away for another one, nor by another visitor
RETRY = 60.0  # seconds after which a model that could not be loaded is tried again for whoever comes
WATCH = 30.0  # seconds between two looks for what is unused
GB = 1e9

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Standing:
    """How a model stands: "idle" (not in memory), "waiting" (another is being loaded), "loading", "ready", "failed".

    While it is loaded, `step` of `bringing.STEPS` is under way. `seconds` since it stands so; of a ready one, since it was used.
    """

    state: str = "idle"
    step: str = ""
    seconds: float = 0.0
    refusal: Remark | None = None


@dataclass
class Place:
    """One model, from the moment when somebody asked for it."""

    entry: Listed
    since: float
    standing: Standing
    done: threading.Event = field(default_factory=threading.Event)
    atlas: AnyHuggingFace | None = None
    bytes: int = 0
    kept: Kept = field(default_factory=Kept)
    visitors: dict[str, float] = field(default_factory=dict)  # when each used it last


class Shelf:
    """All of them, for many threads at once. `limits`: how many models at most, and for how many seconds one stays unused.

    `clock` counts seconds; `available` says how many bytes of memory are free, None where nobody knows.
    """

    def __init__(
        self,
        limits: Callable[[], tuple[int, float]],
        clock: Callable[[], float] = time.monotonic,
        available: Callable[[], int | None] = available_memory,
    ) -> None:
        self.limits, self.clock, self.available = limits, clock, available
        self.lock, self.turn = threading.RLock(), threading.Lock()
        self.places: dict[str, Place] = {}
        self.watching = False

    def look(self, name: str) -> Standing:
        """How a model stands; asks for nothing."""
        with self.lock:
            place = self.places.get(name)
            return Standing() if place is None else replace(place.standing, seconds=self.clock() - place.since)

    def peek(self, name: str) -> AnyHuggingFace | None:
        """The model if it is in memory; to look is no use of it."""
        with self.lock:
            place = self.places.get(name)
            return None if place is None else place.atlas

    def kept(self, name: str) -> Kept | None:
        """Where results of this model lie; None if it is not in memory."""
        with self.lock:
            place = self.places.get(name)
            return None if place is None or place.atlas is None else place.kept

    def bytes_of(self, name: str) -> int:
        """Memory that the weights of a model take and what was computed with it; 0 if it is not there."""
        with self.lock:
            place = self.places.get(name)
            return place.bytes + place.kept.bytes if place else 0

    def is_awaited(self, entry: Listed) -> bool:
        """Whether the model is neither there nor known not to come."""
        with self.lock:
            place = self.places.get(entry.name)
            if place is None:
                return True
            return place.atlas is None and (place.standing.state != "failed" or self._may_retry(place, entry))

    def is_coming(self, name: str) -> bool:
        """Whether the model is on its way."""
        return self.look(name).state in ("waiting", "loading")

    def begin(self, entry: Listed, *, again: bool = False) -> Place:
        """Load the model, if it is not there or on its way. One that could not be loaded is tried `again` at once if told so."""
        with self.lock:
            place = self.places.get(entry.name)
            if place is not None and place.atlas is not None and _asks_for(place.entry) != _asks_for(entry):
                place = None  # the operator's list says something else by now; whoever computes with the old model may end
            if place is not None and not (place.standing.state == "failed" and (again or self._may_retry(place, entry))):
                return place
            standing = Standing("waiting") if self.turn.locked() else Standing("loading", STEPS[0] if entry.hub else STEPS[1])
            place = self.places[entry.name] = Place(entry, self.clock(), standing)
            threading.Thread(target=self._work, args=(place,), daemon=True, name=f"load {entry.name}").start()
            return place

    def take(self, entry: Listed) -> AnyHuggingFace:
        """The model, as soon as it is there; raises CheckpointError."""
        place = self.begin(entry)
        if not place.done.is_set():
            with turns.elsewhere():
                place.done.wait()
        with self.lock:
            if place.atlas is None:
                refusal = place.standing.refusal
                raise CheckpointError(listed.in_english(refusal) if refusal else f"{entry.title} was put away; load it again")
            place.since = place.visitors[_visitor()] = self.clock()
            return place.atlas

    def touch(self, name: str) -> None:
        """Somebody computes with the model for longer."""
        with self.lock:
            if (place := self.places.get(name)) and place.atlas is not None:
                place.since = place.visitors[""] = self.clock()

    def put_away(self, name: str) -> Remark | None:
        """Free the memory of a model; why not, where somebody else uses it."""
        with self.lock:
            place = self.places.get(name)
            if place is None or place.atlas is None:
                return None
            others = [at for visitor, at in place.visitors.items() if visitor != _visitor()]
            if others and (left := BUSY - (self.clock() - max(others))) > 0:
                return Remark("own.in_use", {"title": place.entry.title, "seconds": max(1, round(left))})
            self._drop(place, "by a visitor")
            return None

    def sweep(self) -> None:
        """Put away what nobody used for too long."""
        _, longest = self.limits()
        with self.lock:
            for place in self._ready():
                place.visitors = {visitor: at for visitor, at in place.visitors.items() if self.clock() - at < BUSY}
                if self.clock() - place.since >= longest:
                    self._drop(place, "unused")

    def _ready(self) -> list[Place]:
        return sorted((place for place in self.places.values() if place.atlas is not None), key=lambda place: place.since)

    def _may_retry(self, place: Place, entry: Listed) -> bool:
        return place.entry != entry or self.clock() - place.since >= RETRY

    def _drop(self, place: Place, why: str) -> None:
        del self.places[place.entry.name]
        atlas, place.atlas, place.kept = place.atlas, None, Kept()
        if atlas is not None:  # a page that stays open in some browser still refers to it, and it is full of circles
            for tensor in (*atlas.model.parameters(), *atlas.model.buffers()):
                tensor.data = torch.empty(0)
        logger.info("%s was put away (%s)", place.entry.name, why)

    def _make_room(self, found: Folder) -> None:
        """Put away what was unused longest until there is a place and memory; raises RefusedError where that does not help."""
        most, _ = self.limits()
        while True:
            with self.lock:
                ready, free = self._ready(), self.available()
                spare = [place for place in ready if self.clock() - place.since >= BUSY]
                if len(ready) >= most and not spare:
                    wait = BUSY - (self.clock() - ready[0].since)
                    raise RefusedError(Remark("own.trouble_full", {"most": most, "seconds": max(1, round(wait))}))
                enough = free is None or free >= found.needed
                if len(ready) < most and enough:
                    return
                if free is not None and (not spare or free + sum(place.bytes for place in spare) < found.needed):
                    sizes = {"needed": f"{found.needed / GB:.2f}", "free": f"{free / GB:.2f}"}
                    raise RefusedError(Remark("own.trouble_memory", {"parameters": f"{found.parameters:,}", **sizes}))
                self._drop(spare[0], "for another")

    def _work(self, place: Place) -> None:
        """Load one model; whatever happens, nobody waits for it any longer."""
        name = place.entry.name
        with self.turn:
            begun = self.clock()
            try:
                atlas = bring(place.entry, self.available, self._make_room, lambda step: self._stand(place, "loading", step))
                with self.lock:
                    place.atlas, place.bytes = atlas, sum(one.nbytes for one in atlas.model.parameters())
                    self._stand(place, "ready")
                logger.info("%s was loaded in %.1f s", name, self.clock() - begun)
                self._watch()
            except RefusedError as refused:
                self._stand(place, "failed", refusal=refused.remark)
                logger.error("%s cannot be loaded: %s", name, refused)
            except Exception as error:  # a file that fools its reader may raise anything
                reason = f"{type(error).__name__}: {error}"[:200]
                self._stand(place, "failed", refusal=Remark("own.trouble_unknown", {"reason": reason}))
                logger.exception("%s cannot be loaded", name)
            finally:
                place.done.set()

    def _stand(self, place: Place, state: str, step: str = "", refusal: Remark | None = None) -> None:
        with self.lock:
            place.standing, place.since = Standing(state, step, refusal=refusal), self.clock()

    def _watch(self) -> None:
        """Look now and then for what is unused, as long as anything is there."""
        with self.lock:
            if not self.watching:
                self.watching = True
                threading.Thread(target=self._sweep_often, daemon=True, name="unused models").start()

    def _sweep_often(self) -> None:
        while True:
            time.sleep(WATCH)
            self.sweep()
            with self.lock:
                if not self._ready():
                    self.watching = False
                    return


def _asks_for(entry: Listed) -> tuple[object, ...]:
    """What an entry says of how its model is loaded."""
    languages = entry.source_language, entry.target_language
    return entry.hub or entry.folder, entry.revision, entry.pickles, entry.prefix, languages


def _visitor() -> str:
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def _limits() -> tuple[int, float]:
    found = listed.model_list()
    return found.most, found.idle_minutes * 60.0


shelf = Shelf(_limits)
