"""Streamlit's command line, for the app with a text box that takes longer texts: the longest that `heads` measures."""

import sys

from streamlit.web import cli

from app import session

session.MAX_TOKENS = 512

if __name__ == "__main__":
    sys.exit(cli.main())
