"""What one runs: `streamlit run app/main.py`. The page list, the language, the look; pages are files in views/."""

import sys
from pathlib import Path

if (root := str(Path(__file__).resolve().parents[1])) not in sys.path:  # streamlit puts app/ on the path, not the root
    sys.path.insert(0, root)

import streamlit as st

from app import session
from app.text import text
from app.views import anatomy, own_coming, pages, sidebar, told

selection = session.begin_run()
st.set_page_config(page_title=text("app.name"), layout="wide")
st.html(Path(__file__).parent / "views" / "style.css")

translate, findings, *inside = (pages.page(name) for name in anatomy.ORDER[:-2])
own, studio = pages.page("own"), pages.page("studio")  # show models and files, not the sentence; the stories have their own
groups = {"": [translate, findings], "nav.inside": inside, "nav.work": [own, studio]}
page = st.navigation([member for group in groups.values() for member in group], position="hidden")
if not session.presenting():
    sidebar.show(selection, groups, editable=page is not translate, sentence=page not in (own, studio, findings))
told.long_link()
if too_often := session.waiting():
    told.wait(too_often)
if session.comes_later(page not in (own, findings)):
    own_coming.wait(page.url_path or "translate", selection.model)
page.run()
