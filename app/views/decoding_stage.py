"""The picture of the page Decoding: one output step by step, or a beam search as a tree."""

from app import session
from app.components import beam_tree, decoding_steps
from app.text import section, text
from app.views import html
from app.views.decoding_place import Asked, take, tell_branch, typed
from model import cost
from model.analysis.beam_tree import Grown, beside_greedy, grow
from model.analysis.decoding_steps import BEST, FEW, Candidate, Writing, written_out
from model.beam_search import LENGTH_PENALTY
from model.trace import Trace
from model.translator import Atlas, LanguageModel

STEPS, TREE = "decoding_steps", "beam_tree"


def written(selection: session.Selection, found: Asked) -> Writing:
    """The output as asked for; where a beam searches, the greedy one."""
    best = FEW if session.presenting() else BEST
    return session.measured_model(written_out, selection.model, selection.text, found.plan, best).seen_by(found.eye)


def searched(selection: session.Selection, found: Asked) -> Grown:
    """The beam search as asked for."""
    return session.measured_model(grow, selection.model, selection.text, found.size, found.eye, found.branch.ids, found.limit)


def tell_other(selection: session.Selection, trace: Trace, found: Asked) -> None:
    """Say it where a section shows the text of the first page and the picture above another output."""
    if found.strategy == "beam":
        tree = searched(selection, found).tree
        ids = tree.hypothesis(tree.best[0]).ids
    else:
        ids = written(selection, found).ids
    if tuple(token.id for token in trace.produced[-len(ids) :]) != ids:
        html.prose("decoding.other_text", kind="quiet", text=trace.target_text)


def draw(selection: session.Selection, atlas: Atlas, found: Asked) -> None:
    """What was written, and how."""
    tell_branch(atlas, found)
    if found.strategy == "beam":
        draw_tree(selection, atlas, found)
    else:
        draw_steps(selection, atlas, found)
    html.prose("decoding.head_note", kind="quiet")
    if not atlas.ours:
        html.prose("decoding.rules_of_others", kind="quiet", name=html.Ours(atlas.name))


def looks(atlas: Atlas, found: Asked) -> str:
    """Whose weights are shown."""
    kind = "self" if isinstance(atlas, LanguageModel) else "cross"
    return text(f"decoding.looks_{kind}", head=found.head.name)


def caption(selection: session.Selection, target: str) -> dict[str, str]:
    return {"model": selection.model, "source": selection.text, "target": target}


def draw_steps(selection: session.Selection, atlas: Atlas, found: Asked) -> None:
    """One output."""
    writing = written(selection, found)
    alone = isinstance(atlas, LanguageModel)
    key = "decoding.wrote" if writing.text.strip() else "decoding.wrote_nothing"
    html.prose(key, text=writing.text.strip(), count=len(writing.moments), score=html.Ours(html.number(writing.score)))
    if not writing.ended:
        html.prose("decoding.stopped", kind="quiet", limit=found.limit)
    before = len(writing.keys) if alone else 0
    moments = [
        decoding_steps.Moment(
            moment.read.label, moment.taken.label, moment.taken.id, moment.given,
            [cut(candidate) for candidate in moment.candidates],
            moment.others, moment.others_probability, moment.others_final, moment.kept, moment.log_probability,
            moment.drawn, moment.low, moment.high, moment.weights,
            cost.cache_bytes(atlas.config, len(writing.keys), step if alone else step + 1),
        )
        for step, moment in enumerate(writing.moments)
    ]  # fmt: skip
    plan = found.plan
    settings = decoding_steps.Settings(
        plan.kind, plan.sampling.temperature, plan.sampling.top_k, plan.sampling.top_p, plan.seed, before or 1,
        atlas.config.heads_of(found.head.attention), atlas.config.target_vocab_size, "target" if alone else "source",
        looks(atlas, found), found.eye.path(atlas),
    )  # fmt: skip
    message = decoding_steps.pack(
        moments, [token.label for token in writing.keys], settings, text=section(STEPS), caption=caption(selection, writing.text)
    )
    decoding_steps.decoding_steps(
        message,
        key=STEPS,
        on_branch=take(selection, atlas, found.limit, STEPS),
        on_typed=typed(selection, atlas, found.limit, STEPS),
    )
    html.prose("decoding.convention_lm" if alone else "decoding.convention", kind="quiet")


def cut(candidate: Candidate) -> decoding_steps.Cut:
    """A candidate as the picture shows it: which of the two cuts took it out."""
    by = "" if candidate.final > 0 else "k" if not candidate.in_top_k else "p" if not candidate.in_top_p else ""
    return decoding_steps.Cut(
        candidate.id, candidate.label, candidate.rank, candidate.logit, candidate.divided, candidate.probability, by,
        candidate.final,
    )  # fmt: skip


def draw_tree(selection: session.Selection, atlas: Atlas, found: Asked) -> None:
    """A search."""
    grown = searched(selection, found)
    nodes = [
        beam_tree.Node(
            node.id, label, node.parent, node.depth, node.log_probability, node.total, node.worth, node.fate, row
        )
        for node, label, row in zip(grown.tree.nodes, grown.labels, grown.row_of, strict=True)
    ]  # fmt: skip
    best = grown.tree.nodes[grown.tree.best[0]]
    html.prose(
        "decoding.searched",
        text=grown.texts[0].strip() or html.Ours(text("translate.nothing")),
        score=html.Ours(html.number(best.total)),
        worth=html.Ours(html.number(best.worth)),
        size=found.size,
        nodes=len(nodes),
    )
    tell_greedy(selection, found, grown)
    search = beam_tree.Search(
        grown.start.label, found.size, LENGTH_PENALTY, grown.tree.best, [token.label for token in grown.keys], grown.rows,
        "target" if isinstance(atlas, LanguageModel) else "source", looks(atlas, found), found.eye.path(atlas),
    )  # fmt: skip
    message = beam_tree.pack(nodes, search, text=section(TREE), caption=caption(selection, grown.texts[0]))
    beam_tree.beam_tree(message, key=TREE, on_branch=take(selection, atlas, found.limit, TREE))
    html.prose("decoding.tree_read", kind="quiet")


def tell_greedy(selection: session.Selection, found: Asked, grown: Grown) -> None:
    """What greedy decoding writes from the same beginning, and where the best of the search left its way."""
    writing = written(selection, found)
    greedy = beside_greedy(grown.tree, writing.ids, writing.score)
    way = grown.tree.way(grown.tree.best[0])
    if greedy.parted is None or greedy.parted >= min(len(way), len(writing.ids)):
        html.prose("decoding.greedy_same")
        return
    html.prose(
        "decoding.greedy_better" if greedy.better else "decoding.greedy_other",
        text=writing.text.strip() or html.Ours(text("translate.nothing")),
        score=html.Ours(html.number(writing.score)),
        worth=html.Ours(html.number(greedy.worth)),
        step=greedy.parted + 1,
        greedy=writing.moments[greedy.parted].taken.label,
        beam=grown.labels[way[greedy.parted]],
        size=found.size,
    )
