"""What belongs to the shipped models alone, measured and written down for the pages: `python -m benchmarks.measured`.

It takes some two minutes. Run it after a training, or after a change of the code that the measures depend on: until then the
pages compute what no longer holds, as they do for a sentence.
"""

import argparse
import sys
import time

import torch

from app.session import premeasured
from app.session.belonging import belonging
from app.session.loading import models


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measured", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="measure also what still holds")
    parser.add_argument("--check", action="store_true", help="only say which functions have to be measured again; 1 if any")
    options = parser.parse_args()
    if options.check:
        print("\n".join(premeasured.stale()) or "all of it holds")
        return bool(premeasured.stale())
    torch.set_num_threads(1)
    held = {} if options.all else premeasured.holding()
    if options.all:
        premeasured.FILE.unlink(missing_ok=True)
        premeasured.forget()  # else it would be asked
    lines = dict[premeasured.Key, str]()
    start = time.monotonic()
    for one in belonging():
        key = premeasured.key(one.function, one.names[0], one.arguments)
        if key in held:
            lines[key] = held[key]
        elif key not in lines:
            lines[key] = premeasured.line(one.function, one.names, one.arguments, one.compute())
            print(f"{time.monotonic() - start:6.1f} s  {one.function} {' '.join(one.names)}")
    probes = [premeasured.line_of_probe(name) for name in models()]
    premeasured.FILE.write_text("".join(f"{line}\n" for line in (*probes, *lines.values())), encoding="utf-8")
    print(f"{len(lines)} results, {premeasured.FILE.stat().st_size // 1024} kB, in {premeasured.FILE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
