"""Changed expressions, written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.formats.vrm import vrm_from_character
from bunraku.model import Expression, GroupBind, MaterialBind, MorphBind, Skeleton
from tests.formats.vrm.figures import FACE, HEAD, figure_1, json_of, read, rich_1


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
    both = Expression("x", (GroupBind(0), MaterialBind(0, "base_color", (1, 1, 1, 1), "add")))
    file, notes = vrm_from_character(replace(character, expressions=(both,)))
    assert file.json["extensions"]["VRMC_vrm"]["expressions"]["custom"] == {"x": {}}
    assert [note.code for note in notes] == ["bind-dropped"]
    assert "1 of kind GroupBind, 1 of kind MaterialBind" in notes[0].message


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
