"""Models of the operator's list as a visitor asks for them: brought into memory, put away, and how they stand."""

from app.session import listed
from app.session.listed_file import Listed, ModelList
from app.session.rates import allowed
from app.session.remark import Remark
from app.session.shelf import Standing, shelf
from app.session.turns import turns
from app.text import text
from model.adapters.hugging_face.models import AnyHuggingFace

SOON = 0.4  # seconds: a model that is there within them needs no progress


def own_list() -> ModelList:
    """The operator's list, whether or not what loads it is installed (`can_bring`)."""
    return listed.model_list()


def can_bring() -> bool:
    """Whether the library is there that reads models of others."""
    return listed.installed()


def standing(entry: Listed) -> Standing:
    """How a model of the list stands; one that cannot be loaded for what lies in its folder has failed before it was tried."""
    found = shelf.look(entry.name)
    return Standing("failed", refusal=entry.trouble) if entry.trouble and found.state == "idle" else found


def bring(name: str, *, again: bool = False) -> bool:
    """Have a model loaded, once for all who ask, and whether it is there already; `again`: also what failed a moment ago.

    Where this is asked for too often, `put_off("load")` says so.
    """
    entry = listed.find(name)
    if entry is None or shelf.peek(name) is not None:
        return entry is not None
    if shelf.is_coming(name) or not (again or shelf.is_awaited(entry)) or not allowed("load"):
        return False
    begun = shelf.begin(entry, again=again)
    with turns.elsewhere():
        begun.done.wait(SOON)
    return shelf.peek(name) is not None


def own_facts(entry: Listed) -> list[tuple[str, dict[str, object]]]:
    """What is known of a model of the list, as keys of sentences with their values: more of one that is in memory."""
    facts: list[tuple[str, dict[str, object]]] = []
    if entry.hub:
        key = "own.from_hub_revision" if entry.revision else "own.from_hub"
        facts.append((key, {"name": entry.hub, "revision": entry.revision}))
    if entry.found is None:
        return facts if entry.trouble else [*facts, ("own.unknown", {})]
    facts += [
        ("own.architecture", {"architecture": entry.architecture}),
        (f"own.kind_{entry.kind.replace('-', '_')}", {}),
        ("own.parameters", {"count": f"{entry.found.parameters:,}"}),
    ]
    atlas = shelf.peek(entry.name)
    if atlas is None:
        return [*facts, ("own.memory_needed", {"size": _size(entry.found.needed)})]
    return [*facts, *_of_loaded(atlas), ("own.memory", {"size": _size(shelf.bytes_of(entry.name))})]


def _size(count: int) -> str:
    """Bytes as a reader says them."""
    for unit, of in (("gb", 1e9), ("mb", 1e6)):
        if count >= of:
            return text(f"own.bytes_{unit}", number=f"{count / of:.2f}")
    return text("own.bytes_kb", number=f"{count / 1e3:.0f}")


def _of_loaded(atlas: AnyHuggingFace) -> list[tuple[str, dict[str, object]]]:
    """Its shape, its vocabularies, the longest text."""
    config = atlas.config
    layers = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    heads = {side: config.heads_of(f"{side}.self_attention") for side in layers}
    there = [side for side, count in layers.items() if count]
    both: dict[str, object] = {**layers, **{f"{side}_heads": count for side, count in heads.items()}}
    one: dict[str, object] = {"layers": layers[there[0]], "heads": heads[there[0]]}
    source, target = (len(tokenizer) for tokenizer in (atlas.tokenizers.source, atlas.tokenizers.target))
    return [
        ("own.layers_both", both) if len(there) == 2 else ("own.layers_one", one),
        ("own.width", {"d_model": config.d_model, "d_ff": config.d_ff}),
        ("own.tokens" if source == target else "own.tokens_both", {"source": f"{source:,}", "target": f"{target:,}"}),
        ("own.longest", {"count": config.max_length}),
    ]


def put_away(name: str) -> Remark | None:
    """Free the memory of a model; why not, where somebody else uses it."""
    return shelf.put_away(name)
