"""One HTML file that holds pictures of the app and opens from disk: no network, no server, nothing that is fetched.

Its only script is known by its hash; what a user typed lies in a block of JSON that no browser runs and is put on the page as
text. The bytes that a picture is drawn from are those that the app sends to it, packed with gzip.
"""

import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from model.page.bundle import COMPONENTS, SHARED, joined, style
from model.page.labels import labels

LIMIT = 20_000_000
"""Bytes of a file that still opens quickly; beyond it a page is refused or holds less."""

CONTENTS = "<!-- contents -->"
"""Where the contents stand in a `frame`."""


@dataclass(frozen=True)
class Picture:
    """A component by the name of its folder, and the bytes that it draws from."""

    component: str
    payload: bytes


def document(pictures: Sequence[Picture], *, title: str, language: str, notes: Sequence[str] = ()) -> str:
    """The file. `notes` are said below its title."""
    contents = {
        "language": language, "title": title, "notes": list(notes), "address": "",
        "pictures": [{"component": picture.component, "data": _packed(picture.payload)} for picture in pictures],
    }  # fmt: skip
    return frame({picture.component for picture in pictures}, title, language).replace(CONTENTS, embedded(contents))


def frame(components: Iterable[str], title: str, language: str) -> str:
    """The file without its contents: whatever these components draw, it can show."""
    script = _script(sorted(components))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    look = (COMPONENTS / SHARED / "saved.css").read_text("utf-8")
    asks = html.escape(labels("saved_page", language)["needs_script"])
    return f"""<!doctype html>
<html lang="{html.escape(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{_text(title)}</title>
<style>{look}</style>
</head>
<body>
<main><noscript><p>{asks}</p></noscript></main>
<script type="application/json" id="contents">{CONTENTS}</script>
<script>{script}</script>
</body>
</html>
"""


def embedded(contents: object) -> str:
    """JSON that stands inside a script element: no sign in it can end the element or begin a comment."""
    written = json.dumps(contents, ensure_ascii=False, separators=(",", ":"))
    return written.encode("utf-8", "replace").decode().replace("<", "\\u003c")


def _packed(payload: bytes) -> str:
    return base64.b64encode(gzip.compress(payload, compresslevel=3, mtime=0)).decode()


def _text(title: str) -> str:
    """A title as text of HTML, without what no HTML file may hold."""
    return html.escape(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", "\ufffd", title))


def _script(components: Sequence[str]) -> str:
    """Each component as a function of what it takes for address, history and memory; then what opens the page."""
    made = ",\n".join(f"{json.dumps(name)}: {{ style: {_literal(style(name))}, make: {_function(name)} }}" for name in components)
    opens = re.sub(r"^export ", "", (COMPONENTS / SHARED / "saved.js").read_text("utf-8"), flags=re.MULTILINE)
    script = (
        f'"use strict";\n(() => {{\nconst components = {{\n{made}\n}};\n{opens}\n'
        'open(components, JSON.parse(document.getElementById("contents").textContent));\n})();\n'
    )
    if re.search(r"</script|<!--", script, re.IGNORECASE):
        raise ValueError("a module of these components holds a sign that ends a script element; write it in two parts")
    return script


def _function(component: str) -> str:
    body = re.sub(r"^export default ", "return ", joined(component), flags=re.MULTILINE)
    return f"({{ location, history, sessionStorage }}) => {{\n{body}\n}}"


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("<", "\\u003c")
