"""The demo left what it promises: `python check_demo.py FOLDER`, with Bunraku installed."""

import sys
from pathlib import Path

import bunraku


def problems(folder: Path) -> list[str]:
    """What is wrong with the demo's folder; empty when all is well."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    found = [f"{path.name} is empty" for path in files if path.stat().st_size == 0]
    kinds = {path.suffix for path in files}
    found += [f"no {kind} file" for kind in (".glb",) if kind not in kinds]
    for path in files:
        if path.suffix == ".glb":
            character = bunraku.load(path)
            if not (character.meshes and character.clips):
                found.append(f"{path.name} holds no mesh or no clip")
    return found


if __name__ == "__main__":
    found = problems(Path(sys.argv[1]))
    print("demo: " + ("; ".join(found) or "in order"))
    sys.exit(bool(found))
