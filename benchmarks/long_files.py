"""Streamlit's command line, for the app that takes files of 50 MB: matrices of as many tokens as a picture shows."""

import sys
from dataclasses import replace

from streamlit.web import cli

from app import server_profile

LARGE = replace(server_profile.profile(), max_upload=50 * 1024**2)
server_profile.profile = lambda: LARGE

if __name__ == "__main__":
    sys.exit(cli.main())
