"""UniVRM #1675: vertices without weight moved with whatever the root bone happened to be.

https://github.com/vrm-c/UniVRM/issues/1675
"""

from dataclasses import replace
from pathlib import Path

from bunraku.formats import load, save
from bunraku.model import Skin
from tests.formats.sketch import skinned


def test_no_joint_is_made_up_for_them(tmp_path: Path):
    path = tmp_path / "a.vrm"
    path.write_bytes(skinned([[0, 0, 0, 0]] * 3, skeleton=1).glb())
    character = load(path)
    assert not character.meshes[0].geometries[0].weights.any()  # type: ignore[union-attr]
    turned = replace(character, skins=(Skin(character.skins[0].joints[::-1]),), document=None)
    save(turned, tmp_path / "b.vrm")
    assert not load(tmp_path / "b.vrm").meshes[0].geometries[0].weights.any()  # type: ignore[union-attr]
