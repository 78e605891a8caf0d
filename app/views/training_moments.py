"""The moments of a small model's training: its loss, and how its alignment forms, scrubbed through in the browser."""

from app import session
from app.components.moments import Shown, moments, pack
from app.text import section, text
from app.views import html
from model.alignment.extract import ROWS
from model.practice.order import Order
from model.practice.run import shown_pair
from model.training import exact
from model.training.moments import FILE, Maps, maps
from model.training.tasks import TASKS, Pair, written_pair
from model.translator import Translator

TOY = "toy"


def show() -> None:
    """Draw the section: of the chosen model if its moments were kept, else of the toy."""
    selection = session.begin_run()
    names = [name for name in (selection.model, TOY) if (session.folder_of(name) / FILE).is_file()]
    atlas = next(iter(session.loaded(names[:1]).values()), None)
    if not isinstance(atlas, Translator):
        html.notice("info", "training_moments.missing")
        return
    task = atlas.card["name"] if atlas.card["name"] in TASKS else TOY
    own = written_pair(task, selection.text)
    pair = own or shown_pair(Order(task=task))
    found = session.measured_model(maps, atlas.name, session.folder_of(atlas.name) / FILE, pair.source, pair.target)
    html.prose("training_moments.idea", name=html.Ours(atlas.name), count=len(found.moments))
    caption = {"model": atlas.name, "source": pair.source, "target": pair.target}
    title = text("training_moments.map_title", name=atlas.name)
    moments(pack(shown(atlas, pair, found), text=section("moments"), caption=caption, name="moments", title=title), key="moments")
    if own:
        html.prose("training_moments.own", kind="quiet")
    elif task == TOY:
        html.prose("training_moments.other", kind="quiet", example=session.first_example(TOY))
    html.prose("training_moments.attention_is_not", kind="quiet")


def shown(atlas: Translator, pair: Pair, found: Maps) -> Shown:
    """What the component draws: labels are those of a trace of this pair."""
    trace = atlas.trace(pair.source, pair.target)
    best = exact.best(found.moments[-1].alignment)
    return Shown(
        steps=[moment.step for moment in found.moments],
        loss=[moment.loss for moment in found.moments],
        exact=[moment.exact for moment in found.moments],
        alignment=[moment.alignment for moment in found.moments],
        weights=found.weights,
        source=[token.label for token in trace.source],
        produced=[token.label for token in trace.produced],
        read=[token.label for token in trace.target],
        links=sorted(pair.links),
        losses=found.losses,
        first=(best.layer, best.head or 0, ROWS.index(best.row)),
    )
