"""What the sources do not contain: ways to run what a file or a visitor brings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for folder in ("model", "app") for path in (ROOT / folder).rglob("*.py"))
RUN_WHAT_THEY_READ = {"pickle", "dill", "cloudpickle", "shelve", "marshal", "joblib", "yaml"}
HARMLESS_OF_XML = {
    "ParseError",
    "escape",
    "quoteattr",
}  # the standard library expands entities; defusedxml does not
NEVER_CALLED = {"eval", "exec", "compile", "os.system", "os.popen", "st.markdown", "st.write", "st.components.v1.html"}


SUSPECT = re.compile(
    r"pickle|dill|shelve|marshal|joblib|yaml|xml|eval\(|exec\(|compile\(|os\.(system|popen)|st\.(markdown|write)|load\(|shell=|html=|v1"
)


def faults(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            names = {name.name for name in node.names}
            for found in {module, *names}:
                if found.partition(".")[0] in RUN_WHAT_THEY_READ:
                    yield f"imports {found}"
            if (module.startswith("xml") and names - HARMLESS_OF_XML) or any(name.startswith("xml") for name in names):
                yield f"parses XML with {module or names}"
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            named = {word.arg: ast.unparse(word.value) for word in node.keywords}
            if called in NEVER_CALLED:
                yield f"calls {called}"
            if called == "torch.load" and named.get("weights_only") != "True":
                yield "unpickles with torch.load"
            if named.get("allow_pickle", "False") != "False":
                yield f"unpickles with {called}"
            if named.get("shell", "False") != "False" or "unsafe_allow_html" in named:
                yield f"{called} with {named}"


def test_nothing_that_is_read_is_run() -> None:
    suspects = {path: source for path in SOURCES if SUSPECT.search(source := path.read_text("utf-8"))}
    found = [f"{path.relative_to(ROOT)}: {fault}" for path, source in suspects.items() for fault in faults(ast.parse(source))]
    assert not found


def test_the_test_would_see_it() -> None:
    for source in (
        "import pickle", "from xml.etree import ElementTree", "np.load(f, allow_pickle=True)", "torch.load(f)",
        "subprocess.run(x, shell=True)", "eval(x)", "st.markdown(x)", "import xml.sax",
    ):  # fmt: skip
        assert list(faults(ast.parse(source))), source
