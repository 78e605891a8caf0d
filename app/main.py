"""What one runs: `streamlit run app/main.py`. The page list, the language, the look; pages are files in views/."""

import sys
from pathlib import Path

if (root := str(Path(__file__).resolve().parents[1])) not in sys.path:  # streamlit puts app/ on the path, not the root
    sys.path.insert(0, root)

import streamlit as st

from app import session
from app.text import text
from app.views import anatomy, own_coming, sidebar, told

selection = session.begin_run()
st.set_page_config(page_title=text("app.name"), page_icon=str(Path(root) / "assets" / "icon.png"), layout="wide")
st.html(Path(__file__).parent / "views" / "style.css")

translate = st.Page("views/translate.py", title=text("translate.title"), url_path="translate", default=True)
studio = st.Page("views/studio.py", title=text("studio.title"), url_path="studio")  # works on files, not on the sentence
own = st.Page("views/own.py", title=text("own.title"), url_path="own")  # shows models, and what comes from files
findings = st.Page("views/findings.py", title=text("findings.title"), url_path="findings")  # has sentences of its own
pages = {
    "": [translate, findings],
    "nav.inside": [st.Page(f"views/{name}.py", title=text(f"{name}.title"), url_path=name) for name in anatomy.ORDER[2:-2]],
    "nav.work": [own, studio],
}
page = st.navigation([member for group in pages.values() for member in group], position="hidden")
if not session.presenting():
    sidebar.show(selection, pages, editable=page is not translate, sentence=page not in (own, studio, findings))
told.long_link()
if too_often := session.waiting():
    told.wait(too_often)
if session.comes_later(page not in (own, findings)):
    own_coming.wait(page.url_path or "translate", selection.model)
page.run()
