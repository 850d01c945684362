"""Changed expressions, written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bunraku.formats.vrm import vrm_from_character
from bunraku.formats.vrm.write_expressions import without_groups
from bunraku.model import Expression, GroupBind, JointBind, MaterialBind, MorphBind, Rig, Skeleton
from bunraku.posing.expressions import applied
from tests.formats.vrm.figures import (
    FACE,
    HAIR,
    HEAD,
    bare_figure,
    figure_1,
    json_of,
    read,
    rich_1,
)


def test_a_changed_expression_keeps_what_nobody_touched():
    character = read(rich_1())
    aa, happy, wink = character.expressions
    louder = replace(aa, binds=(MorphBind(0, 0, 0.75),), binary=True, override_look="blend")
    tree = json_of(replace(character, expressions=(louder, happy, wink)))
    before = character.document.json["extensions"]["VRMC_vrm"]
    after = tree["extensions"]["VRMC_vrm"]
    assert after["expressions"]["preset"]["aa"] == {
        "morphTargetBinds": [{"node": FACE, "index": 0, "weight": 0.75}],
        "extras": {"maker": "me"},
        "isBinary": True,
        "overrideLookAt": "blend",
    }
    assert after["expressions"]["preset"]["happy"] == before["expressions"]["preset"]["happy"]
    assert after["expressions"]["custom"] == before["expressions"]["custom"]
    rest = [key for key in after if key != "expressions"]
    assert {k: after[k] for k in rest} == {k: before[k] for k in before if k != "expressions"}
    assert (
        tree["extensions"]["VRMC_springBone"]
        == (character.document.json["extensions"]["VRMC_springBone"])
    )
    # nothing was changed in the document the character came with
    assert "isBinary" not in before["expressions"]["preset"]["aa"]


def test_expressions_that_are_gone_and_new_ones():
    character = read(rich_1())
    binds = (MaterialBind(1, "uv_scale", (1.0, 1.0)), MaterialBind(1, "uv_offset", (0.5, 0.0)))
    new = Expression("smirk", binds)
    tree = json_of(replace(character, expressions=(character.expressions[0], new)))
    groups = tree["extensions"]["VRMC_vrm"]["expressions"]
    assert list(groups["preset"]) == ["aa"]
    transform = {"material": 1, "scale": [1, 1], "offset": [0.5, 0]}
    assert groups["custom"] == {"smirk": {"textureTransformBinds": [transform]}}


def test_custom_names_that_are_presets_or_taken_get_a_number():
    character = read(figure_1())
    three = tuple(Expression(name) for name in ("blink", "x", "x"))
    file, notes = vrm_from_character(replace(character, expressions=three))
    custom = file.json["extensions"]["VRMC_vrm"]["expressions"]["custom"]
    assert list(custom) == ["blink 2", "x", "x 2"]
    assert [note.code for note in notes] == 2 * ["expression-renamed"]


def test_binds_vrm_cannot_say_are_noted():
    character = read(figure_1())
    turn = JointBind(HEAD, np.zeros(3), np.array([0, 0, 0, 1.0]))
    both = Expression("x", (turn, MaterialBind(0, "base_color", (1, 1, 1, 1), "add")))
    file, notes = vrm_from_character(replace(character, expressions=(both,)))
    assert file.json["extensions"]["VRMC_vrm"]["expressions"]["custom"] == {"x": {}}
    assert [note.code for note in notes] == ["bind-dropped"]
    assert "1 of kind JointBind, 1 of kind MaterialBind" in notes[0].message


def test_added_nodes_and_moved_attachments_are_no_changed_expression():
    character = read(rich_1())
    s = character.skeleton
    skeleton = Skeleton(
        (*s.names, "hat"),
        np.append(s.parents, HEAD).astype(np.int32),
        np.vstack([s.translations, [0, 0.3, 0]]),
        np.vstack([s.rotations, [0, 0, 0, 1]]),
        np.vstack([s.scales, [1, 1, 1]]),
    )
    tree = json_of(replace(character, skeleton=skeleton))
    before = character.document.json["extensions"]
    assert tree["extensions"] == before


def of_mmd(*expressions: Expression) -> dict[str, Any]:
    """The expressions that are written for a figure with these and no VRM behind it."""
    figure = replace(read(bare_figure()), expressions=expressions, document=None)
    file, _ = vrm_from_character(figure)
    return file.json["extensions"]["VRMC_vrm"]["expressions"]


def test_morphs_of_mmd_become_presets_by_their_names():
    names = ("まばたき", "ウィンク", "ｳｨﾝｸ2右", "ウィンク２", "あ", "はぁと", "怒り")
    written = of_mmd(*(Expression(name) for name in names))
    assert list(written["preset"]) == ["blink", "blinkRight", "blinkLeft", "aa", "angry"]
    assert list(written["custom"]) == ["ウィンク", "はぁと"]


def test_a_name_is_no_preset_where_there_is_one_already():
    written = of_mmd(Expression("shut", preset="blink"), Expression("まばたき"))
    assert (list(written["preset"]), list(written["custom"])) == (["blink"], ["まばたき"])


def test_custom_expressions_of_a_vrm_stay_custom():
    character = replace(read(figure_1()), expressions=(Expression("まばたき"),))
    file, notes = vrm_from_character(character)
    assert list(file.json["extensions"]["VRMC_vrm"]["expressions"]["custom"]) == ["まばたき"]
    assert notes == ()


def test_groups_become_the_binds_of_their_members():
    blink, aa = MorphBind(0, 0), MorphBind(0, 1, 0.5)
    written = of_mmd(
        Expression("shut", (blink,)),
        Expression("laugh", (GroupBind(0, 0.5), GroupBind(2, 1.0))),
        Expression("open", (GroupBind(3, 0.5), GroupBind(0, 0.25), GroupBind(1))),  # a circle
        Expression("speak", (aa,)),
    )
    binds = {name: tree["morphTargetBinds"] for name, tree in written["custom"].items()}
    assert binds["laugh"] == [
        {"node": FACE, "index": 0, "weight": 0.75},
        {"node": FACE, "index": 1, "weight": 0.25},
    ]
    assert binds["shut"] == [{"node": FACE, "index": 0, "weight": 1.0}]


def test_members_of_groups_that_move_no_morphs_are_noted():
    turn = JointBind(HEAD, np.zeros(3), np.array([0, 0, 0, 1.0]))
    nod, both = Expression("nod", (turn,)), Expression("both", (GroupBind(0), MorphBind(0, 0)))
    figure = replace(read(bare_figure()), expressions=(nod, both), document=None)
    _, notes = vrm_from_character(figure)
    dropped = [note.message for note in notes if note.code == "bind-dropped"]
    assert [each.rpartition(": ")[2] for each in dropped] == [
        "1 of kind JointBind",
        "1 of kind GroupBind",
    ]


@given(st.data())
def test_what_is_written_of_groups_moves_morphs_as_the_groups_do(data: Any):
    shares = st.sampled_from([-1.0, 0.5, 0.75, 2.0])
    count = data.draw(st.integers(1, 5))
    bind = st.builds(MorphBind, st.just(0), st.integers(0, 1), shares)
    group = st.builds(GroupBind, st.integers(0, count - 1), shares)
    binds = st.lists(bind | group, max_size=3).map(tuple)
    expressions = tuple(Expression(f"e{i}", data.draw(binds)) for i in range(count))
    figure = replace(read(bare_figure()), rig=Rig(layers=[0] * (HAIR + 3)))
    figure = replace(figure, expressions=expressions)
    spread = replace(figure, expressions=without_groups(expressions))
    for i in range(count):
        asked = replace(figure.rest_pose(), expressions=np.eye(count)[i : i + 1])
        wanted, found = (applied(each, asked).morph_weights[0] for each in (figure, spread))
        np.testing.assert_allclose(found, wanted, atol=1e-12)
