"""`python -m model.alignment`: see `--help`, or docs/alignment-command.md."""

import sys

from model.alignment.command.run import main

if __name__ == "__main__":
    sys.exit(main())
