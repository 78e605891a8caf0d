"""How many people one server bears: real sessions over WebSockets, each doing something every two seconds.

Not part of `python -m benchmarks`, since it takes minutes and a server of its own. Times are those of a visitor on the same
machine, from the message to the end of the run that it asked for, with everything that was drawn received. The people share the
machine with the server: with many of them, part of what is measured is their own weight.
"""

import argparse
import asyncio
import os
import platform
import tempfile
from pathlib import Path

import streamlit
import torch

from app.views.anatomy import ORDER
from benchmarks.load.crowd import Crowd, Result
from benchmarks.load.each import each, table
from benchmarks.load.server import Server, serve
from benchmarks.load.soak import soak
from benchmarks.load.table import HEADER, lines, slowest

LEVELS = (1, 30, 60, 120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, nargs="+", help=f"how many at once, one crowd after the other {LEVELS}")
    parser.add_argument("--seconds", type=float, default=40, help="of each measurement, after all have arrived (%(default)s)")
    parser.add_argument(
        "--settle", type=float, default=30, help="of action before each, which fill the caches and do not count (%(default)s)"
    )
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two actions of a visitor (%(default)s)")
    parser.add_argument(
        "--training", action="store_true", help="with one live training running (else the last of the usual crowds has one)"
    )
    parser.add_argument("--pages", nargs="+", default=None, help="only these pages")
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="hold one crowd for so long and print every minute")
    parser.add_argument("--each", metavar="MODEL", help="instead: what each control of each page costs, one visitor alone")
    parser.add_argument("--address", help="of a server that runs already, as http://127.0.0.1:8501 (else one is started)")
    parser.add_argument("--slowest", type=int, default=12, help="how many of the slowest actions are listed (%(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.address:
            run(options, Server.at(options.address))
        else:
            log = Path(folder) / "server.log"
            with serve(log) as server:
                run(options, server)
            if "Traceback" in (said := log.read_text(errors="replace")):
                print(f"\nthe server logged an exception:\n{said[-3000:]}")


def run(options: argparse.Namespace, server: Server) -> None:
    """What the command line asks for."""
    print(
        f"streamlit {streamlit.__version__}, torch {torch.__version__}, {os.cpu_count()} cores, {platform.machine()}, "
        f"{platform.system()}, Python {platform.python_version()}; one process; 80 % controls, 15 % something new, 5 % a page\n"
    )
    if options.soak:
        asyncio.run(soak(server, options.people[0] if options.people else 30, options.soak, options.every))
        return
    if options.each:
        print("\n".join(table(asyncio.run(each(server, options.each, options.pages or ORDER)))))
        return
    print(HEADER, flush=True)
    results: list[Result] = []
    levels = [(people, options.training) for people in options.people or LEVELS]
    if not options.people and not options.training:
        levels.append((30, True))
    for people, training in levels:
        crowd = Crowd(server, people, options.every, options.pages, training=training)
        result = asyncio.run(crowd.measure(options.seconds, options.settle))
        results.append(result)
        print("\n".join(lines(result)), flush=True)
    print("\n" + "\n".join(slowest([done for result in results for done in result.done], options.slowest)))


if __name__ == "__main__":
    main()
