"""The operator's list of models: what is wrong with an entry is said and the rest served; each loaded once, put away unused."""

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from app import session, text
from app.session import bringing, listed, listed_file, loading
from app.session import shelf as shelf_module
from app.session.listed_file import Listed
from app.session.results import Kept, size
from app.session.shelf import BUSY, RETRY, Shelf, shelf
from model.adapters.hugging_face import AdapterError, HuggingFaceEncoder, hub
from model.checkpoint import CheckpointError
from tests.app.listing import make, served, settle, write

FOLDER = 'folder = "bert"'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list with a tiny BERT and a tiny GPT-2 on it."""
    made = tmp_path_factory.mktemp("list")
    make(made, "bert", "gpt2")
    return made


def read(folder: Path, written: str) -> listed_file.ModelList:
    file = folder / "other.toml"
    file.write_text(written, encoding="utf-8")
    return listed_file.read(file)


def entry(folder: Path, name: str = "bert") -> Listed:
    (found,) = (one for one in listed_file.read(folder / "models.toml").models if one.name == f"own-{name}")
    return found


# ----- the list


def test_visitors_choose_names_and_see_what_lies_in_the_folders(folder: Path) -> None:
    with served(folder / "models.toml"):
        assert [(one.name, one.title, one.architecture, one.kind) for one in listed.listed()] == [
            ("own-bert", "Tiny bert", "bert", "encoder-only"),
            ("own-gpt2", "Tiny gpt2", "gpt2", "decoder-only"),
        ]
        assert session.models()[-2:] == ("own-bert", "own-gpt2")
        assert session.writes_on("own-gpt2")
        assert not session.writes_on("own-bert")
        assert "own-bert" not in session.loaded(session.models())  # to look at all of them loads none
        assert shelf.look("own-bert").state == "idle"
    assert listed.listed() == ()


@pytest.mark.parametrize(
    ("wrong", "key", "says"),
    [
        (FOLDER, "no_title", "[[model]] 1"),
        (f'title = 3\n{FOLDER}', "text", "title is 3"),
        ('title = "A"', "no_place", "A says not where it lies"),
        (f'title = "A"\n{FOLDER}\nhub = "a/b"', "two_places", "A names a folder and a hub"),
        (f'titel = "A"\n{FOLDER}', "field", "titel is no field"),
        (f'title = "A"\n{FOLDER}\npickles = "yes"', "pickles", "'yes'"),
        (f'title = "A"\n{FOLDER}\nrevision = "1"', "revision", "Only what comes from a hub"),
        (f'title = "A"\n{FOLDER}\nlanguages = "en"', "languages", "'en'"),
        (f'title = "A"\n{FOLDER}\nlanguages = ["English"]', "languages", "English"),
        ('title = "A"\nhub = "../a"', "hub", "../a"),
        ('title = "A"\nfolder = "模型"', "name", "模型"),
        ('title = "Twice"\nfolder = "x"\nname = "good"', "same_name", "Twice would be called good, as Good is"),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_said_by_its_name_and_the_rest_is_served(folder: Path, wrong: str, key: str, says: str) -> None:
    good = f'[[model]]\ntitle = "Good"\n{FOLDER}\nname = "good"\n'
    found = read(folder, f"{good}[[model]]\n{wrong}\n" if key == "same_name" else f"[[model]]\n{wrong}\n{good}")
    assert [one.name for one in found.models] == ["own-good"]
    (problem,) = found.problems
    assert problem.key == f"own.problem_{key}"
    assert says in listed.in_english(problem)
    text.use("zh")
    assert text.text(problem.key, **problem.values)  # the same values fill the other language


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("most = ", "not_toml"), ("", "no_entries"), ("model = 3", "no_entries"), ("model = [3]", "no_table"),
        (f'most = 0\n[[model]]\ntitle = "A"\n{FOLDER}', "number"), (f'many = 2\n[[model]]\ntitle = "A"\n{FOLDER}', "field"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_as_a_whole(folder: Path, written: str, key: str) -> None:
    found = read(folder, written)
    assert [problem.key for problem in found.problems] == [f"own.problem_{key}"]
    assert (found.most, found.idle_minutes) == (2, 30)
    assert all(listed.in_english(problem) for problem in found.problems)


def test_a_list_that_is_not_there_and_a_folder_that_comes_later(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with served(tmp_path / "models.toml"):
        assert session.own_list().problems[0].key == "own.problem_no_file"
        write(tmp_path, "bert")
        (missing,) = listed.listed()
        assert session.damage("own-bert").startswith("The folder bert is not there.")
        assert str(tmp_path) not in session.damage("own-bert")
        assert f"the page finds it then. ({tmp_path / 'bert'})" in caplog.text
        (tmp_path / "bert").symlink_to(folder / "bert")
        (found,) = listed.listed()
        assert (missing.kind, found.kind, session.damage("own-bert")) == ("", "encoder-only", "")


def test_a_folder_in_a_home_and_a_reason_that_is_plain_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    (folder / "empty").mkdir()
    found = read(
        folder, "".join(f'[[model]]\ntitle = "A"\nfolder = "{place}"\n' for place in ("~/bert", "empty", "~nobody-here/x"))
    )
    assert [one.kind for one in found.models] == ["encoder-only", "", ""]
    reason = found.models[1].trouble
    assert reason is not None
    assert "save_pretrained" in str(reason.values["reason"])
    assert "`" not in str(reason.values["reason"])


def test_without_the_library_there_is_nothing_to_choose(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed, "installed", lambda: False)
    with served(folder / "models.toml"):
        assert listed.listed() == ()
        assert not [name for name in session.models() if name.startswith("own-")]
        assert len(session.own_list().models) == 2


@pytest.mark.parametrize(
    ("config", "more", "languages"),
    [
        ("{}", 'languages = ["en", "de"]', ("en", "de")),
        ('{"source_lang": "eng", "target_lang": "de"}', "", ("en", "de")),
        ("{}", 'source_language = "eng_Latn"\ntarget_language = "fra_Latn"', ("en", "fr")),
        ("[", "", ("und", "und")),
    ],
)
def test_languages_are_those_of_the_list_or_of_the_tokenizer(tmp_path: Path, config: str, more: str, languages: object) -> None:
    made = tmp_path / "m"
    made.mkdir()
    (made / "config.json").write_text('{"model_type": "marian"}')
    (made / "tokenizer_config.json").write_text(config)
    save_file({"a": torch.zeros(2)}, made / "model.safetensors")
    (found,) = read(tmp_path, f'[[model]]\ntitle = "M"\nfolder = "m"\n{more}\n').models
    assert listed.languages(found) == languages


# ----- loading


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def own_shelf(clock: Clock) -> Iterator[Shelf]:
    """One model at most, unused for ten minutes at most."""
    made = Shelf(lambda: (1, 600.0), clock)
    made._watch = lambda: None  # type: ignore[method-assign]
    yield made
    for place in made.places.values():
        assert place.done.wait(30)


def test_two_who_ask_at_once_share_one_loading_with_all_its_steps(
    folder: Path, own_shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = list[str]()
    stand = own_shelf._stand

    def noted(place: Any, state: str, step: str = "", **more: Any) -> None:
        steps.append(step or state)
        stand(place, state, step, **more)

    monkeypatch.setattr(own_shelf, "_stand", noted)
    found = list[object]()
    threads = [threading.Thread(target=lambda: found.append(own_shelf.take(entry(folder)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert len({id(atlas) for atlas in found}) == 1
    assert steps == ["folder", "weights", "tokenizers", "trial", "ready"]
    assert isinstance(found[0], HuggingFaceEncoder)
    assert found[0].name == "own-bert"


def test_what_nobody_uses_is_put_away_with_what_was_computed(folder: Path, own_shelf: Shelf, clock: Clock) -> None:
    atlas = own_shelf.take(entry(folder))
    kept = own_shelf.kept("own-bert")
    assert kept is not None
    held = own_shelf.bytes_of("own-bert")
    kept.get("a", lambda: atlas.trace("I love you."))
    assert own_shelf.bytes_of("own-bert") > held >= 4 * atlas.card["parameters"]
    clock.now += 599.0
    own_shelf.sweep()
    own_shelf.take(entry(folder))
    clock.now += 599.0
    own_shelf.sweep()
    assert own_shelf.peek("own-bert") is atlas  # used in between
    clock.now += 1.0
    own_shelf.sweep()
    assert own_shelf.look("own-bert").state == "idle"
    assert own_shelf.kept("own-bert") is None
    assert sum(one.numel() for one in atlas.model.parameters()) == 0  # whoever still refers to it holds no memory
    assert torch.isfinite(own_shelf.take(entry(folder)).trace("I love you.")["encoder.output"].tensor).all()


def test_one_in_use_is_not_put_away_for_another(folder: Path, own_shelf: Shelf, clock: Clock) -> None:
    own_shelf.take(entry(folder))
    clock.now += BUSY - 30
    with pytest.raises(CheckpointError, match=r"At most 1 model is in memory.* in 30 seconds"):
        own_shelf.take(entry(folder, "gpt2"))
    clock.now += RETRY
    own_shelf.take(entry(folder, "gpt2"))
    assert (own_shelf.look("own-bert").state, own_shelf.look("own-gpt2").state) == ("idle", "ready")


def test_a_name_that_the_list_gives_to_another_folder_is_loaded_anew(folder: Path, own_shelf: Shelf) -> None:
    before = own_shelf.take(entry(folder))
    assert own_shelf.take(entry(folder)) is before
    assert own_shelf.take(replace(entry(folder), folder=entry(folder, "gpt2").folder)) is not before


def test_a_visitor_puts_away_what_no_other_uses(
    folder: Path, own_shelf: Shelf, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for visitor in ("one", "two"):
        monkeypatch.setattr(shelf_module, "_visitor", lambda visitor=visitor: visitor)
        own_shelf.take(entry(folder))
        clock.now += 50.0
    refusal = own_shelf.put_away("own-bert")
    assert refusal is not None
    assert refusal.values["seconds"] == BUSY - 100
    clock.now += 20.0
    assert own_shelf.put_away("own-bert") is None
    assert own_shelf.look("own-bert").state == "idle"


def test_what_does_not_fit_into_memory_is_refused_before_it_is_read(
    folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bringing.hugging_face, "load", lambda *_, **__: pytest.fail("was read"))
    small = Shelf(lambda: (3, 600.0), clock, available=lambda: 10_000_000)
    big = entry(folder)
    assert big.found is not None
    with monkeypatch.context() as patch:
        patch.setattr(type(big.found), "needed", property(lambda _: 25_000_000))
        with pytest.raises(CheckpointError, match=r"about 0\.03 GB of memory \(6,240 parameters\), and 0\.01 GB"):
            small.take(big)


def not_numbers(file: Path) -> None:
    weights = load_file(file)
    save_file({name: torch.full_like(tensor, torch.nan) for name, tensor in weights.items()}, file)


def pickled(file: Path) -> None:
    torch.save(load_file(file), file.with_name("pytorch_model.bin"))
    file.unlink()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (not_numbers, "computes what is no number"),
        (pickled, "a format that can run code"),
        (lambda file: file.write_bytes(file.read_bytes()[:500]), "no whole safetensors file"),
        (lambda file: file.with_name("tokenizer.json").write_text("{"), "tokenizer"),
        (lambda file: file.with_name("config.json").unlink(), "holds no config.json"),
    ],
)  # fmt: skip
def test_a_damaged_folder_is_told_and_read_again_once_it_is_mended(
    tmp_path: Path, clock: Clock, own_shelf: Shelf, change: Callable[[Path], object], says: str
) -> None:
    make(tmp_path, "bert")
    whole = {file: file.read_bytes() for file in (tmp_path / "bert").iterdir()}
    change(tmp_path / "bert" / "model.safetensors")
    with pytest.raises(CheckpointError, match=says):
        own_shelf.take(entry(tmp_path))
    assert own_shelf.look("own-bert").state == "failed"
    for file, content in whole.items():
        file.write_bytes(content)
    clock.now += RETRY
    assert own_shelf.take(entry(tmp_path)).name == "own-bert"


def test_what_a_broken_reader_raises_reaches_whoever_waits(
    folder: Path, own_shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bringing.hugging_face, "load", lambda *_, **__: [][1])
    with pytest.raises(CheckpointError, match="IndexError"):
        own_shelf.take(entry(folder))
    assert not own_shelf.is_awaited(entry(folder))  # not at once again
    monkeypatch.undo()
    place = own_shelf.begin(entry(folder), again=True)
    assert place.done.wait(30)
    assert place.atlas is not None


# ----- on a hub


def a_hub(monkeypatch: pytest.MonkeyPatch, folder: Path, *, down: bool = False, size: int = 1000) -> list[dict[str, Any]]:
    """A hub that has one model, and what it was asked."""
    asked = list[dict[str, Any]]()

    def snapshot_download(name: str, **options: Any) -> str:
        if options.get("local_files_only") and not any("allow_patterns" in one for one in asked):
            raise FileNotFoundError("not here yet")
        if down:
            raise ConnectionError("the network is down\nand more")
        asked.append({"name": name, **options})
        return str(folder)

    file = SimpleNamespace(rfilename="model.safetensors", size=size)
    api = lambda: SimpleNamespace(model_info=lambda *_, **__: SimpleNamespace(siblings=[file]))  # noqa: E731
    quiet = SimpleNamespace(disable_progress_bars=lambda: None)
    fake = SimpleNamespace(snapshot_download=snapshot_download, HfApi=api, utils=quiet)
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake)
    return asked


ON_HUB = '[[model]]\ntitle = "Far"\nhub = "somebody/tiny-bert"\nrevision = "abc"\n'


def test_a_model_on_a_hub_is_fetched_when_somebody_loads_it(
    folder: Path, tmp_path: Path, own_shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = a_hub(monkeypatch, folder / "bert")
    (far,) = read(tmp_path, ON_HUB).models
    assert (far.name, far.folder, far.kind, asked) == ("own-tiny-bert", None, "", [])
    assert own_shelf.take(far).name == "own-tiny-bert"
    assert (asked[0]["name"], asked[0]["revision"]) == ("somebody/tiny-bert", "abc")
    patterns = [pattern for one in asked for pattern in one.get("allow_patterns", ())]
    assert "model*.safetensors" in patterns
    assert not [pattern for pattern in patterns if pattern.endswith((".py", ".bin", ".pt"))]
    (near,) = read(tmp_path, ON_HUB).models
    assert near.kind == "encoder-only"


@pytest.mark.parametrize(
    ("hub_is", "says"), [({"down": True}, "the network is down; check"), ({"size": 10**15}, "needs at least 1300000.00 GB")]
)
def test_a_hub_that_cannot_be_reached_and_a_model_too_large(
    folder: Path, tmp_path: Path, own_shelf: Shelf, monkeypatch: pytest.MonkeyPatch, hub_is: dict[str, Any], says: str
) -> None:
    a_hub(monkeypatch, folder / "bert", **hub_is)
    (far,) = read(tmp_path, ON_HUB).models
    with pytest.raises(CheckpointError, match=says):
        own_shelf.take(far)


def test_without_the_library_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert hub.cached("a/b") is None
    with pytest.raises(AdapterError, match="make run-hf"):
        hub.fetch("a/b")


# ----- what was computed


def test_results_take_no_more_than_their_room_and_are_made_once() -> None:
    kept, made = Kept(most_bytes=1000, most=3), list[str]()

    def result(key: str, count: int) -> Any:
        return kept.get(key, lambda: (made.append(key), np.zeros(count, np.uint8))[1])

    for key, count in (("a", 400), ("b", 400), ("a", 400), ("c", 400), ("a", 400), ("b", 400)):
        assert len(result(key, count)) == count
    assert made == ["a", "b", "c", "b"]  # b was used longest ago when c came
    assert kept.bytes <= 1000
    assert len(result("huge", 5000)) == 5000  # more than fits is kept alone
    assert kept.bytes == 5000
    with pytest.raises(ZeroDivisionError):
        kept.get("wrong", lambda: 1 // 0)
    assert kept.get("wrong", lambda: 7) == 7


def test_what_takes_room_is_counted(folder: Path, own_shelf: Shelf) -> None:
    trace = own_shelf.take(entry(folder)).trace("I love you.")
    assert size(trace) >= sum(trace[path].tensor.nbytes for path in trace)
    assert size({"a": [torch.zeros(3), "abc"], "b": 5}) == 15


def test_translations_and_traces_go_with_their_model(folder: Path) -> None:
    with served(folder / "models.toml"):
        first = session.trace("own-gpt2", "I love you.")
        assert session.trace("own-gpt2", "I love you.") is first
        assert session.translation("own-gpt2", "I love you.") is session.translation("own-gpt2", "I love you.", 1)
        assert loading.load("own-gpt2") is shelf.peek("own-gpt2")
        settle()
        assert session.put_away("own-gpt2") is None
        again = session.trace("own-gpt2", "I love you.")
        assert again is not first
        torch.testing.assert_close(again["logits"].tensor, first["logits"].tensor)
