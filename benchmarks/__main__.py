"""Run the named benchmarks, or all of them: `python -m benchmarks skinning kinematics`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from benchmarks.harness import machine

HELPERS = {"__init__", "__main__", "harness"}


def main(arguments: list[str]) -> int:
    folder = Path(__file__).parent
    known = sorted(path.stem for path in folder.glob("*.py") if path.stem not in HELPERS)
    unknown = [name for name in arguments if name not in known]
    if unknown:
        print(f"unknown benchmark {unknown[0]!r}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    print(f"{machine()}\n")
    for name in arguments or known:
        for part in importlib.import_module(f"benchmarks.{name}").run():
            print(part + "\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
