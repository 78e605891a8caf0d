"""What a visitor does next: the mix that the goals are for, with the widgets that the page has at this moment.

Of a hundred actions eighty use a control (or open a part of a page, which then measures what is in it: told apart in the table),
fifteen bring something new, five go to another page. On the pages about a sentence something new is a sentence that nobody has
typed before; in the studio it is a sample that is opened, or a pair.
"""

import asyncio
import random
from dataclasses import dataclass
from typing import Literal

from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks.load import widgets
from benchmarks.load.sentences import sentence
from benchmarks.load.visitor import Run, Visitor
from benchmarks.load.widgets import Widget

Kind = Literal["arrival", "control", "part", "new", "page"]
CONTROLS, NEW = 0.80, 0.15  # the rest goes to another page
STUDIO = "studio"
# Not a control on a cached trace: another model, another text, a run of many seconds, the language of the whole page. (Nor the
# boxes of code, which cost nothing and would flatter the figures.)
OTHER = {
    "model", "language", "sentence", "example", "target", "training_begin", "training_resume", "cost_live_start",
}  # fmt: skip
SORTS = ("index", "confidence", "coverage", "entropy", "ratio")
PAIRS = 8  # of a sample that are opened: the first ones


@dataclass(frozen=True)
class Done:
    """One action: what kind, where, with which widget, what came of it; `error` where it came to nothing."""

    kind: Kind
    page: str
    what: str
    run: Run | None
    error: str = ""


class Mix:
    """The choices of one visitor, the same in every run of the benchmark."""

    def __init__(self, seed: int, model: str, pages: tuple[str, ...]) -> None:
        self.chance, self.seed, self.model, self.pages = random.Random(seed), seed, model, pages
        self.asked = 0

    def next_sentence(self) -> str:
        """A sentence that no other visitor has, in the language of the model."""
        self.asked += 1
        return sentence(self.model, self.seed, self.asked)

    async def act(self, visitor: Visitor) -> Done:
        """Do one thing."""
        draw = self.chance.random()
        if draw >= CONTROLS + NEW:
            page = self.chance.choice([name for name in self.pages if name != visitor.page])
            return Done("page", page, "opened", await visitor.follow(name_of(page)))
        if visitor.page == STUDIO:
            return await self._in_studio(visitor, something_new=draw >= CONTROLS)
        if draw >= CONTROLS and (box := visitor.named("sentence")):
            return Done("new", _said(visitor), "sentence", await visitor.set(box, widgets.typed(box, self.next_sentence())))
        return await self._control(visitor)

    async def _control(self, visitor: Visitor) -> Done:
        self._look_around(visitor)
        found = self.found(visitor)
        if not found:  # a page whose pictures need no server: look at it again
            return Done("control", _said(visitor), "rerun", await visitor.again())
        widget, state = self.chance.choice(found)
        opens = widget.kind == "expandable" and state.bool_value  # what is in it is measured now, the first time
        return Done("part" if opens else "control", _said(visitor), widget.key, await visitor.set(widget, state))

    def found(self, visitor: Visitor) -> list[tuple[Widget, WidgetState]]:
        """The controls that the page has, each with something else that it may be set to."""
        found = []
        for widget in visitor.widgets.values():
            if widget.key in OTHER or widget.key.startswith("code_") or widget.around:
                continue
            if state := self._told(visitor, widget) or widgets.another(widget, visitor.states.get(widget.id), self.chance):
                found.append((widget, state))
        return found

    def _told(self, visitor: Visitor, widget: Widget) -> WidgetState | None:
        """What a picture that is clicked tells the server; most keep their choice in the address and tell nothing."""
        if widget.kind != "bidi_component":
            return None
        name = widget.element.component_name.rsplit(".", 1)[-1]
        layer, head = self.chance.randrange(3), self.chance.randrange(4)
        if name == "architecture":
            return widgets.kept(widget, layer=layer)
        if name == "attention_graph":
            return widgets.kept(widget, place={"attention": "decoder.cross_attention", "layer": layer, "head": head})
        if name == "mask_painter":
            return widgets.kept(widget, mask=self.chance.choice(("causal", "full", "none")))
        return None

    def _look_around(self, visitor: Visitor) -> None:
        """A head chosen in the picture stands in the address and is heard of with the next action."""
        visitor.change_address(layer=str(self.chance.randrange(3)), head=str(self.chance.randrange(4)))

    async def _in_studio(self, visitor: Visitor, *, something_new: bool) -> Done:
        samples = [one for one in visitor.widgets.values() if one.key.startswith("studio_sample_")]
        pairs = visitor.named("studio_pairs")
        if samples and (pairs is None or (something_new and self.chance.random() < 0.3)):
            chosen = self.chance.choice(samples)
            return Done("new", STUDIO, "sample opened", await visitor.set(chosen, widgets.pressed(chosen)))
        if begin := visitor.named("studio_start"):
            return Done("new", STUDIO, "alignment begun", await visitor.set(begin, widgets.pressed(begin)))
        if pairs is None:
            return await self._control(visitor)
        if something_new:
            asked = widgets.told(pairs, "ask", {"open": self.chance.randrange(PAIRS)})
            return Done("new", STUDIO, "pair opened", await visitor.set(pairs, asked))
        if self.chance.random() < 0.5:
            asked = widgets.told(pairs, "ask", {"sort": self.chance.choice(SORTS)})
            return Done("control", STUDIO, "sorted", await visitor.set(pairs, asked))
        return await self._control(visitor)


async def align(visitor: Visitor) -> None:
    """Open a sample of the studio and let it be aligned to its end."""
    sample = next(one for one in visitor.widgets.values() if one.key.startswith("studio_sample_"))
    await visitor.set(sample, widgets.pressed(sample))
    begin = visitor.named("studio_start")
    assert begin is not None
    await visitor.set(begin, widgets.pressed(begin))
    while visitor.named("studio_cancel") or not visitor.named("studio_pairs"):
        await asyncio.sleep(0.2)


def name_of(page: str) -> str:
    """The name of a page in its address: the first has none."""
    return "" if page == "translate" else page


def _said(visitor: Visitor) -> str:
    return visitor.page or "translate"
