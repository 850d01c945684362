"""The character the package makes by itself, and what a tour of the package shows with it."""

from __future__ import annotations

from pathlib import Path

from bunraku.demo.comparison import comparison
from bunraku.demo.motion import make_clips
from bunraku.demo.puppet import make_puppet
from bunraku.demo.report import limb_volumes, report
from bunraku.demo.shape_animation import shape_animation
from bunraku.formats import save
from bunraku.render import save_picture
from bunraku.skinning.deform import METHODS
from bunraku.stage import Stage

__all__ = [
    "comparison",
    "limb_volumes",
    "make_clips",
    "make_puppet",
    "report",
    "run_demo",
    "shape_animation",
]

SHAPES_PER_SECOND = 7.5  # 30 shapes over the clip: turns of at most 40° from shape to shape


def run_demo(folder: Path | str) -> list[Path]:
    """Make the puppet, play it both ways, and write what came of it.

    * ``puppet.glb``: rig, texture and clip; what any glTF viewer plays by LBS.
    * ``puppet-lbs.glb``, ``puppet-dqs.glb``: the same clip as shapes, so that a viewer that
      only knows LBS shows both.
    * ``lbs-dqs.png``: the twisted forearm and the bent elbow, one method beside the other.
    * ``report.md``: what each method keeps of the limbs.

    Args:
        folder: is made if missing; files of these names are replaced.

    Returns:
        The files, in this order.

    Raises:
        OSError: the file system refuses.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in run_demo(folder)]
    ['puppet.glb', 'puppet-lbs.glb', 'puppet-dqs.glb', 'lbs-dqs.png', 'report.md']
    """
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    puppet = make_puppet()
    paths = [home / "puppet.glb"]
    save(puppet, paths[0])
    stage = Stage(puppet, 0)
    for method in METHODS:
        times = stage.frame_times(SHAPES_PER_SECOND)
        film = stage.deform(times, method=method, normals=True)
        paths.append(home / f"puppet-{method}.glb")
        save(shape_animation(puppet, film, puppet.clips[0].name), paths[-1])
    paths.append(home / "lbs-dqs.png")
    save_picture(comparison(make_puppet(2)), paths[-1])  # finer: it is seen from close by
    paths.append(home / "report.md")
    paths[-1].write_text(report(puppet), encoding="utf8")
    return paths
