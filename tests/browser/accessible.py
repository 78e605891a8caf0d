"""What axe-core finds on a page, inside its pictures too (their shadow roots are open).

It looks for what a program can see: names, roles, contrast of text, order of headings, what can be reached by keyboard.
docs/accessibility.md says what people looked at besides.
"""

from importlib import resources
from typing import TypedDict

from playwright.sync_api import Page

AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
SEVERE = ("serious", "critical")
RUN = """async rules => {
    await document.fonts.ready;
    await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const quick = { resultTypes: ["violations"], preload: false, elementRef: false };
    const { violations } = await axe.run(document, { ...quick, ...(rules.length && { runOnly: rules }) });
    return violations.flatMap(({ id, impact, nodes }) => nodes.map(node => ({
        rule: id, impact: node.impact ?? impact, place: node.target.flat().join(" >> "), html: node.html.slice(0, 160),
        why: [...node.any, ...node.all, ...node.none].map(check => check.message).join("; "),
    })));
}"""


class Finding(TypedDict):
    """A rule, how much it hinders somebody, the element (its selector, through shadow roots with ">>"), and why."""

    rule: str
    impact: str
    place: str
    html: str
    why: str


def findings(page: Page, *rules: str) -> list[Finding]:
    """All that is found, or all that these rules find."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)  # through the debugger, which no policy of the page holds back
    found: list[Finding] = page.evaluate(RUN, rules)
    return found


def severe(page: Page, *rules: str) -> list[Finding]:
    """What keeps somebody from using the page: a test compares it with nothing."""
    return [found for found in findings(page, *rules) if found["impact"] in SEVERE]
