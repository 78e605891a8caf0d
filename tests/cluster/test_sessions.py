"""Each visitor keeps to one process; when it dies, its sessions alone are lost; an update need not lose any."""

import time
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, expect

from tests.browser import application, attention
from tests.cluster.cluster import SHIPPED, Cluster
from tests.cluster.visitor import XSRF, Visitor

SENTENCE = {"lang": "en", "model": "en-fr", "text": "I love you."}
PAIRS = b"I love you.\tJe t'aime.\nShe reads.\tElle lit.\nWe are here.\tNous sommes ici.\n"
COUNT_RUNS = """() => {
    window.runs = 0
    new MutationObserver(changes => {
        window.runs += changes.some(({target}) => target.dataset.testScriptState === 'running')
    }).observe(document, {subtree: true, attributeFilter: ['data-test-script-state']})
}"""


def at(cluster: Cluster, replica: str, page: str = "heads", **parameters: str) -> Visitor:
    """A visitor whose page is open in this process. (nginx asks one that was down again after ten seconds.)"""
    end = time.monotonic() + 15
    while True:
        visitor = Visitor(cluster.address, {"atlas_replica": replica}).come(page, **(SENTENCE | parameters))
        if visitor.replica == replica:
            return visitor
        visitor.leave()
        assert time.monotonic() < end, f"nginx leads to {visitor.replica}"
        time.sleep(0.5)


def opened(cluster: Cluster, replica: str, number: int) -> None:
    """A process hears a moment later that a page was closed."""
    end = time.monotonic() + 10
    while (found := cluster.replicas[replica].sessions()) != number and time.monotonic() < end:
        time.sleep(0.05)
    assert found == number


def test_visitors_are_shared_out_and_each_keeps_to_one_process(cluster: Cluster) -> None:
    before = {name: replica.sessions() for name, replica in cluster.replicas.items()}
    visitors = [Visitor(cluster.address).come("heads", **SENTENCE) for _ in range(6)]  # all from one address, as a school is
    chosen = [visitor.replica for visitor in visitors]
    assert sorted(chosen) == ["1"] * 3 + ["2"] * 3
    for name in cluster.replicas:
        opened(cluster, name, before[name] + 3)

    paths = ("/", "/heads?text=Hello.", "/_stcore/health", "/_stcore/host-config", "/static/css/none.css", "/manifest.json")
    for turn in range(5):
        for visitor in visitors:
            for path in paths:
                assert "atlas_replica" not in "".join(visitor.ask(path).all("set-cookie")), f"given anew for {path}"
            visitor.type(f"I love you {turn}.")
            assert visitor.shown("text") == f"I love you {turn}."
    assert [visitor.replica for visitor in visitors] == chosen
    for visitor in visitors:
        visitor.leave()
    for name in cluster.replicas:
        opened(cluster, name, before[name])


def test_a_page_that_lost_its_websocket_for_a_moment_finds_its_session_again(cluster: Cluster) -> None:
    visitor = at(cluster, "1", "studio")
    visitor.drop("pairs.tsv", PAIRS)
    before = visitor.session
    visitor.leave()
    visitor.elements.clear()
    visitor.connect()
    assert (visitor.session, visitor.replica) == (before, "1")
    assert "checkbox studio_swap" in visitor.elements, "what was brought to the studio stands in no link: it is in the session"
    visitor.leave()


def test_files_go_to_the_process_of_their_session_and_back(cluster: Cluster) -> None:
    for replica in cluster.replicas:
        visitor = at(cluster, replica, "studio")
        assert visitor.drop("pairs.tsv", PAIRS).status == 204
        assert "checkbox studio_swap" in visitor.elements, "the studio has not read the file"
        assert visitor.upload("too-large.txt", b"a" * (7 * 2**20)).status == 413
        visitor.cookies[XSRF] = ""
        assert visitor.upload("forged.txt", b"a").status == 403
        visitor.leave()

        visitor = at(cluster, replica)
        saved = visitor.download()
        assert saved.status == 200
        assert saved.one("content-disposition").startswith("attachment; filename")
        assert saved.body
        visitor.leave()


def test_a_killed_process_loses_its_own_sessions_alone(cluster: Cluster) -> None:
    others, lost = [at(cluster, "2") for _ in range(3)], [at(cluster, "1") for _ in range(3)]
    sessions = [visitor.session for visitor in [*others, *lost]]
    lost[0].type("She reads a book.")
    lost[1].come("masks", **(SENTENCE | {"text": "We are here."}))

    cluster.replicas["1"].kill()
    assert all(visitor.lost() for visitor in lost)
    for visitor in others:  # they notice nothing
        visitor.type("Where are you?")
        assert visitor.shown("text") == "Where are you?"
        assert visitor.download().status == 200
    for visitor in lost:  # their pages connect again: a new session, with what their link says
        visitor.connect()
        assert visitor.replica == "2"
        assert visitor.session not in sessions
    assert [visitor.shown("text") for visitor in lost] == ["She reads a book.", "We are here.", "I love you."]
    assert lost[0].elements["text_area sentence"].value == "She reads a book."
    newcomer = Visitor(cluster.address).come("heads", **SENTENCE)
    assert newcomer.replica == "2"

    cluster.whole()  # it is back: nobody moves, not with what they download, not with what they bring
    now = [visitor.session for visitor in [*others, *lost, newcomer]]
    for visitor in [*others, *lost, newcomer]:
        visitor.type("It is raining.")
        assert visitor.download().status == 200
        assert visitor.upload("pairs.tsv", PAIRS).status == 204
        assert visitor.ask("/").all("set-cookie") == []
        assert visitor.replica == "2"
    assert [visitor.session for visitor in [*others, *lost, newcomer]] == now
    assert cluster.replicas["1"].sessions() == 0

    end = time.monotonic() + 15  # nginx asks it again after ten seconds, and newcomers are shared out as before
    found = ""
    while found != "1" and time.monotonic() < end:
        time.sleep(0.25)
        second = Visitor(cluster.address)
        second.ask("/")
        found = second.replica
    assert found == "1"
    for visitor in [*others, *lost, newcomer]:
        visitor.leave()


def test_a_process_is_emptied_before_an_update(cluster: Cluster) -> None:
    shipped = SHIPPED.read_text("utf-8")
    first = "server 127.0.0.1:8501 max_fails=3 fail_timeout=10s;"
    stays = at(cluster, "1")
    try:
        cluster.nginx.write(shipped.replace(first, first[:-1] + " down;", 1))
        cluster.nginx.reload()
        end, newcomers = time.monotonic() + 10, [""]
        while set(newcomers) != {"2"} and time.monotonic() < end:
            newcomers = []
            for _ in range(4):
                newcomer = Visitor(cluster.address)
                newcomer.ask("/")
                newcomers.append(newcomer.replica)
        assert set(newcomers) == {"2"}

        session = stays.session  # who was there works on, across the reload
        stays.type("She reads a book.")
        assert stays.upload("pairs.tsv", PAIRS).status == 204
        assert (stays.session, stays.replica) == (session, "1")
        stays.leave()
        opened(cluster, "1", 0)  # and when they have left, it can be stopped
    finally:
        cluster.nginx.write(shipped)
        cluster.nginx.reload()


def test_in_a_browser_the_page_comes_back_with_the_same_sentence(cluster: Cluster, browser: BrowserContext) -> None:
    host = urlsplit(cluster.address).hostname or ""
    browser.add_cookies([{"name": "atlas_replica", "value": "1", "domain": host, "path": "/"}])
    visit = application.Visit(browser, cluster.address)
    page = visit.open(lang="en", model="en-fr", text="Hello.")
    attention.type_sentence(page, "She reads a book.")
    expect(page.locator(".atlas-translation")).to_have_text("Elle a lu un livre.")
    address = page.url
    assert "She+reads+a+book." in address
    page.evaluate(COUNT_RUNS)
    assert visit.problems == []

    cluster.replicas["1"].kill()

    def replica() -> str:
        return next(cookie["value"] for cookie in browser.cookies() if cookie["name"] == "atlas_replica")

    end = time.monotonic() + application.PAGE_SECONDS
    while replica() != "2" and time.monotonic() < end:
        page.wait_for_timeout(100)
    # The page connected again by itself, without being loaded anew, and was drawn again.
    page.wait_for_function("() => window.runs > 0")
    application.settle(page)
    expect(page.locator(".atlas-translation")).to_have_text("Elle a lu un livre.")
    assert page.url == address
    attention.type_sentence(page, "We are here.")  # and it works
    expect(page.locator(".atlas-translation")).to_have_text("Nous sommes ici.")
    visit.problems = [problem for problem in visit.problems if not problem.startswith("console: ")]  # of the broken connection
    visit.close()
    assert visit.problems == []
