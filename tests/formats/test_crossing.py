"""Characters that change between MMD and glTF or VRM: terms of use, and what stays behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.formats import load, load_clips, save, save_clip
from bunraku.formats.mmd import (
    BoneFlag,
    MaterialFlag,
    PmxBody,
    PmxBone,
    PmxFile,
    PmxFrame,
    PmxJoint,
    PmxMaterial,
    character_from_pmx,
    write_pmx,
)
from bunraku.formats.vrm.licence import LICENCE
from bunraku.model import Clip, Track
from bunraku.retargeting import retarget
from bunraku.stage import Stage
from tests.formats.mmd.sketch import pmd_sections
from tests.formats.vrm.figures import META, bare_figure, figure_0, figure_1, written

TERMS = "改変禁止\r\n再配布禁止"
AXES = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def model(**parts: Any) -> PmxFile:
    """A model with some of all that only MMD has."""
    whole: dict[str, Any] = {
        "name": "ミク",
        "comment": TERMS,
        "materials": (
            PmxMaterial("肌", "skin", specular=(1, 0, 0), sphere_mode=1, memo="x"),
            PmxMaterial(
                "目", ambient=(0, 0, 1), flags=MaterialFlag.EDGE, shared_toon=False, toon=-1
            ),
        ),
        "bones": (
            PmxBone("センター", "center"),
            PmxBone("頭", flags=BoneFlag.LOCAL_AXES, local_axes=AXES),
        ),
        "frames": (PmxFrame("Root", "Root", 1),),
        "bodies": (PmxBody("髪"), PmxBody("髪2")),
        "joints": (PmxJoint("髪"),),
    }
    return PmxFile(**{**whole, **parts})


def codes(notes: tuple[Any, ...], *, of: str = "-dropped") -> dict[str, str]:
    return {note.code: note.message for note in notes if note.code.endswith(of)}


LEFT = {
    "physics-dropped": "2 rigid bodies, 1 joints are left out",
    "shading-dropped": "1 toon ramps, 1 sphere maps, 1 edges, 1 specular colours,"
    " 1 ambient colours, 1 memos are left out",
    "names-dropped": "3 English names are left out",
    "display-dropped": "1 display frames, 1 local axes of bones are left out",
}


@pytest.mark.parametrize("suffix", [".vrm", ".glb", ".gltf"])
def test_what_only_mmd_has_is_counted(suffix: str, tmp_path: Path):
    notes = save(character_from_pmx(model()), tmp_path / f"x{suffix}")
    assert codes(notes).items() >= LEFT.items()
    nothing = PmxFile("ミク", bones=(PmxBone("頭"),))
    assert not codes(save(character_from_pmx(nothing), tmp_path / f"x{suffix}"))


def test_the_terms_of_a_model_of_mmd_go_into_the_meta_and_allow_nothing(tmp_path: Path):
    notes = save(character_from_pmx(model()), tmp_path / "x.vrm")
    (said,) = codes(notes, of="-comment").values()
    assert said == "the comment is written as thirdPartyLicenses; it says: 改変禁止 再配布禁止"
    assert "licence-assumed" in {note.code for note in notes}
    again = load(tmp_path / "x.vrm")
    assert again.document.json["extensions"]["VRMC_vrm"]["meta"] == {
        "name": "ミク",
        "authors": ["unknown"],
        "licenseUrl": LICENCE,
        "thirdPartyLicenses": TERMS,
    }
    (said,) = [note.message for note in again.notes if note.code == "licence-redistribution"]
    assert said.endswith("; thirdPartyLicenses 改変禁止 再配布禁止")


@pytest.mark.parametrize(("facing", "name"), [("-Z", "x.vrm"), ("+Z", "x.glb")])
def test_terms_without_a_place_are_noted(facing: str, name: str, tmp_path: Path):
    character = replace(character_from_pmx(model()), facing=facing)
    notes = save(character, tmp_path / name)
    (said,) = codes(notes, of="-comment").values()
    assert said.endswith("it says: 改変禁止 再配布禁止")


def test_both_comments_are_kept(tmp_path: Path):
    both = model(comment="日本語", comment_english="English")
    save(character_from_pmx(both), tmp_path / "x.vrm")
    meta = load(tmp_path / "x.vrm").document.json["extensions"]["VRMC_vrm"]["meta"]
    assert meta["thirdPartyLicenses"] == "日本語\n\nEnglish"


def test_a_comment_is_noted_when_a_model_is_read(tmp_path: Path):
    write_pmx(model(comment="あ" * 300), tmp_path / "x.pmx")
    (tmp_path / "x.pmd").write_bytes(b"".join(pmd_sections()))
    said = [codes(load(tmp_path / f"x.{kind}").notes, of="-comment") for kind in ("pmx", "pmd")]
    assert said[0] == {"licence-comment": f"the comment says: {'あ' * 200}…"}
    assert said[1] == {"licence-comment": "the comment says: 説明 comment"}


def test_a_pmd_leaves_as_much_behind(tmp_path: Path):
    (tmp_path / "x.pmd").write_bytes(b"".join(pmd_sections()))
    notes = save(load(tmp_path / "x.pmd"), tmp_path / "x.glb")
    assert {"physics-dropped", "shading-dropped", "licence-comment"} <= {n.code for n in notes}


def test_a_model_that_stays_in_mmd_loses_nothing(tmp_path: Path):
    character = character_from_pmx(model())
    assert save(character, tmp_path / "x.pmx") == ()
    notes = save(replace(character, materials=character.materials[:1]), tmp_path / "x.pmx")
    assert [note.code for note in notes] == ["written-from-scratch"]
    assert load(tmp_path / "x.pmx").document.comment == TERMS


def comment_of(path: Path) -> str:
    notes = save(load(path), path.with_suffix(".pmx"))
    comment = load(path.with_suffix(".pmx")).document.comment
    assert ("licence-comment" in {note.code for note in notes}) == bool(comment)
    return comment


def test_the_terms_of_a_vrm_go_into_the_comment(tmp_path: Path):
    assert comment_of(written(figure_0(), tmp_path)).splitlines() == [
        "title: figure",
        "licenseName: CC_BY_ND",
        "allowedUserName: Everyone",
    ]
    meta = {**META, "authors": ["a", "b"], "allowRedistribution": True, "thumbnailImage": 0}
    lines = comment_of(written(figure_1(meta=meta), tmp_path)).splitlines()
    assert "authors: a, b" in lines
    assert "allowRedistribution: true" in lines
    # what is not said is forbidden in VRM 1.0, and has to be said elsewhere
    assert {"modification: prohibited", "avatarPermission: onlyAuthor"} <= set(lines)
    assert not any("thumbnail" in line for line in lines)


@pytest.mark.parametrize("meta", [None, [], "free"])
def test_no_terms_make_no_comment(meta: Any, tmp_path: Path):
    assert comment_of(written(figure_1(meta=meta), tmp_path)) == ""


def test_the_copyright_of_a_gltf_goes_into_the_comment(tmp_path: Path):
    sketch = bare_figure()
    sketch.tree["asset"] = {"version": "2.0", "copyright": "© me"}
    assert comment_of(written(sketch, tmp_path, "x.glb")) == "copyright: © me"


def test_what_only_a_vrm_has_is_counted(tmp_path: Path):
    sketch = figure_1(firstPerson={"meshAnnotations": [{"node": 0, "type": "auto"}]})
    sketch.tree["materials"] = [
        {"extensions": {"VRMC_materials_mtoon": {}, "KHR_materials_unlit": {}}},
        {"emissiveFactor": [1, 0, 0]},
        {"emissiveFactor": [0, 0, 0]},
    ]
    sketch.tree["cameras"] = [
        {"type": "perspective", "perspective": {"yfov": 1.0, "znear": 0.1}},
    ]
    notes = save(load(written(sketch, tmp_path)), tmp_path / "y.pmx")
    assert codes(notes) == {
        "shading-dropped": "1 MToon, 1 unlit, 1 emission colours are left out",
        "first-person-dropped": "1 meshes that say who sees them in first person do so no more",
        "cameras-dropped": "1 cameras are left out",
    }
    old = figure_0(
        materialProperties=[{"shader": "VRM/MToon"}, None, {"shader": "VRM_USE_GLTFSHADER"}],
        firstPerson={"meshAnnotations": [{"mesh": 0, "firstPersonFlag": "Auto"}]},
    )
    notes = save(load(written(old, tmp_path)), tmp_path / "y.pmx")
    assert codes(notes)["shading-dropped"] == "1 MToon are left out"
    assert "first-person-dropped" in codes(notes)


def test_a_motion_of_an_avatar_moves_its_pmx(corpus: Path, tmp_path: Path):
    """Bent and turned about, with a face, by a VMD; the avatar looks the other way."""
    avatar = load(corpus / "vrm_mmd" / "V-Sekai__godot-vrm__Godette_vrm_v4.vrm")
    save(avatar, tmp_path / "x.pmx")
    model = load(tmp_path / "x.pmx")
    assert model.humanoid == avatar.humanoid
    bones = avatar.humanoid.bones
    turn = [[0, 0, 0, 1], [0.6, 0, 0, 0.8]]
    clip = Clip(
        "",
        (
            *(Track(bones[b], "rotation", [0, 1], turn) for b in ("hips", "head", "leftUpperArm")),
            Track(bones["leftLowerLeg"], "rotation", [0, 1], turn),
            Track("A", "expression", [0, 1], [[0], [1]]),
        ),
    )
    save_clip(retarget(clip, avatar, model), tmp_path / "x.vmd", model)
    [dance] = load_clips(tmp_path / "x.vmd")
    assert {"センター", "頭", "左腕", "左ひざ", "あ"} <= {track.target for track in dance.tracks}
    wanted, found = (
        Stage(*each).deform(1.0).positions[0] for each in ((avatar, clip), (model, dance))
    )
    rest = Stage(model).deform(0).positions[0]
    assert np.abs(found - rest).max() > 0.3
    np.testing.assert_allclose(found, wanted * [-1, 1, -1], atol=1e-5)
