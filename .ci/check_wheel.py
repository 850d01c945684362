"""A wheel ships what it needs and stays small: `python check_wheel.py bunraku-….whl`."""

import sys
import zipfile
from pathlib import Path

LIMIT = 5_000_000
NEEDED = ("bunraku/__init__.py", "bunraku/py.typed", "bunraku/_core.pyi")


def problems(wheel: Path) -> list[str]:
    """What is wrong with the wheel; empty when it may be shipped."""
    size = wheel.stat().st_size
    names = zipfile.ZipFile(wheel).namelist()
    found = [f"lacks {name}" for name in NEEDED if name not in names]
    if not any(
        name.startswith("bunraku/_core.") and name.endswith((".so", ".pyd")) for name in names
    ):
        found.append("lacks the compiled core")
    strays = [n for n in names if not n.startswith(("bunraku/", "bunraku-"))]
    found += [f"ships {name}, which is not ours to install" for name in strays]
    if size >= LIMIT:
        found.append(f"is {size:,} bytes; expected below {LIMIT:,}")
    return found


if __name__ == "__main__":
    wheel = Path(sys.argv[1])
    found = problems(wheel)
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes; " + ("; ".join(found) or "in order"))
    sys.exit(bool(found))
