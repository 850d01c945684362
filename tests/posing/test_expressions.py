"""Expressions, against worked numbers and the rules of VRM 1.0 and MMD."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import RigError
from bunraku.model import (
    Attachment,
    Character,
    Expression,
    Geometry,
    GroupBind,
    JointBind,
    Material,
    MaterialBind,
    Mesh,
    MorphBind,
    MorphTarget,
    Rig,
    Skeleton,
    UvBind,
)
from bunraku.posing.expressions import applied, effective_weights, material_changes, uv_offsets
from bunraku.rotation import quaternion, slerp

MMD = Rig(layers=np.zeros(1, np.int32))
TURN = quaternion.from_axis_angle([0, 0, 1], 1.0)
BEND = quaternion.from_axis_angle([1, 0, 0], 0.7)


def puppet(*expressions: Expression, rig: Rig | None = None) -> Character:
    morph = MorphTarget(np.array([0], np.int32), np.ones((1, 3), np.float32))
    geometry = Geometry(
        np.zeros((3, 3), np.float32), uvs=(np.zeros((3, 2), np.float32),), morphs=(morph, morph)
    )
    mesh = Mesh("face", (geometry,), (), ("a", "b"), np.array([0.5, 0]))
    return Character(
        Skeleton(("root",), [-1]),
        (mesh,),
        attachments=(Attachment(0, 0),),
        materials=(Material("skin"), Material("cloth")),
        expressions=expressions,
        rig=rig,
    )


def test_weights_of_another_character_are_refused():
    character = puppet(Expression("a"))
    with pytest.raises(RigError, match="2 weights, but the character has 1"):
        effective_weights(character, np.ones((1, 2)))
    other = replace(
        Character(Skeleton(("a", "b"), [-1, 0])).rest_pose(), expressions=np.ones((1, 1))
    )
    with pytest.raises(RigError, match=r"2 nodes and .* but the character has 1 "):
        applied(character, other)


def test_a_property_with_differently_many_numbers_is_refused():
    character = puppet(
        Expression(
            "a", (MaterialBind(0, "base_color", (1.0,)), MaterialBind(0, "base_color", (1.0, 2.0)))
        )
    )
    with pytest.raises(RigError, match="2 numbers and 1"):
        material_changes(character, np.ones((1, 1)))


def test_a_pose_that_says_nothing_is_handed_back():
    character = puppet(Expression("a", (MorphBind(0, 1),)))
    pose = character.rest_pose()
    assert applied(character, pose) is pose
    silent = replace(pose, expressions=np.zeros((1, 0)))
    assert applied(character, silent) is silent


def test_morphs_are_added_up_over_what_the_pose_has():
    character = puppet(
        Expression("a", (MorphBind(0, 0, 0.5), MorphBind(0, 1))),
        Expression("b", (MorphBind(0, 1),)),
    )
    pose = replace(character.rest_pose(), expressions=np.array([[0.5, 0.25]]))
    np.testing.assert_array_equal(applied(character, pose).morph_weights[0], [[0.75, 0.75]])


def test_vrm_weights_are_clamped_and_mmd_weights_are_not():
    asked = np.array([[-0.5], [1.5]])
    np.testing.assert_array_equal(effective_weights(puppet(Expression("a")), asked), [[0], [1]])
    mmd = puppet(Expression("a"), rig=MMD)
    np.testing.assert_array_equal(effective_weights(mmd, asked), asked)


def test_binary_is_on_above_one_half_only():
    character = puppet(Expression("a", binary=True))
    weights = effective_weights(character, np.array([[0.0], [0.5], [0.501], [1]]))
    np.testing.assert_array_equal(weights[:, 0], [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("override", "expected"), [("none", 0.8), ("blend", 0.8 * 0.75), ("block", 0.0)]
)
def test_an_expression_overrides_those_of_the_kind(override, expected):
    happy = Expression("happy", preset="happy", override_mouth=override)
    oh, blink = Expression("oh", preset="oh"), Expression("blink", preset="blink")
    weights = effective_weights(puppet(happy, oh, blink), np.array([[0.25, 0.8, 0.9]]))
    np.testing.assert_allclose(weights, [[0.25, expected, 0.9]], atol=1e-15)


def test_overrides_add_up_to_one_at_most_and_spare_their_own_kind():
    happy = Expression("happy", preset="happy", override_blink="blend")
    sad = Expression("sad", preset="sad", override_blink="blend")
    wink = Expression("wink", preset="blinkLeft", override_blink="block")
    weights = effective_weights(puppet(happy, sad, wink), np.array([[0.75, 0.75, 0.5]]))
    np.testing.assert_array_equal(weights, [[0.75, 0.75, 0]])
    weights = effective_weights(puppet(happy, sad, wink), np.array([[0.25, 0.25, 0.5]]))
    np.testing.assert_array_equal(weights, [[0.25, 0.25, 0.25]])


def test_whatever_overrides_a_binary_one_switches_it_off():
    happy = Expression("happy", preset="happy", override_look="blend")
    look = Expression("up", preset="lookUp", binary=True)
    weights = effective_weights(puppet(happy, look), np.array([[0.1, 1], [0, 1.0]]))
    np.testing.assert_array_equal(weights, [[0.1, 0], [0, 1]])


def test_groups_reach_through_groups():
    character = puppet(
        Expression("outer", (GroupBind(1, 0.5), GroupBind(2, 2.0))),
        Expression("inner", (GroupBind(2, 0.5),)),
        Expression("leaf"),
        rig=MMD,
    )
    weights = effective_weights(character, np.array([[0.5, 0.25, 0.125]]))
    inner = 0.25 + 0.5 * 0.5
    np.testing.assert_array_equal(weights, [[0.5, inner, 0.125 + 1 + inner * 0.5]])


def test_a_group_may_stand_after_the_group_that_it_is_in():
    character = puppet(
        Expression("leaf"),
        Expression("inner", (GroupBind(0),)),
        Expression("outer", (GroupBind(1),)),
        rig=MMD,
    )
    np.testing.assert_array_equal(
        effective_weights(character, np.array([[0, 0, 1.0]])), [[1, 1, 1]]
    )


def test_circles_of_groups_end():
    character = puppet(
        Expression("self", (GroupBind(0),)),
        Expression("a", (GroupBind(2),)),
        Expression("b", (GroupBind(1), GroupBind(3))),
        Expression("leaf"),
        rig=MMD,
    )
    np.testing.assert_array_equal(
        effective_weights(character, np.array([[1, 1, 0, 0.0]])), [[1, 1, 1, 1]]
    )


def test_groups_may_nest_as_deep_as_the_file_is_long():
    deep = [Expression(str(i), (GroupBind(i + 1), GroupBind(i + 1))) for i in range(3000)]
    character = puppet(*deep, Expression("leaf"), rig=MMD)
    weights = np.zeros((1, 3001))
    weights[0, 2990] = 1
    assert effective_weights(character, weights)[0, -1] == 2**10


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(-2, 2)), max_size=12))
def test_without_circles_groups_are_a_sum_over_all_paths(links):
    links = [(a, b, w) for a, b, w in links if a < b]
    character = puppet(
        *(
            Expression(str(i), tuple(GroupBind(b, w) for a, b, w in links if a == i))
            for i in range(6)
        ),
        rig=MMD,
    )
    matrix = np.zeros((6, 6))
    for a, b, w in links:
        matrix[a, b] += w
    asked = np.array([[1, 0.5, -0.25, 0, 0.75, 0.1]])
    expected = sum(asked @ np.linalg.matrix_power(matrix, n) for n in range(6))
    np.testing.assert_allclose(effective_weights(character, asked), expected, atol=1e-9)


def test_joints_move_and_turn_before_what_the_pose_does():
    character = puppet(
        Expression("a", (JointBind(0, np.array([1.0, 2, 3]), TURN),)),
        Expression("b", (JointBind(0, np.array([1.0, 0, 0]), BEND),)),
        rig=MMD,
    )
    rest = character.rest_pose()
    pose = replace(
        rest,
        rotations=quaternion.from_axis_angle([0, 1, 0], 0.3)[None, None],
        expressions=np.array([[0.5, 0.25]]),
    )
    done = applied(character, pose)
    np.testing.assert_allclose(done.translations, [[[0.75, 1, 1.5]]])
    turn = slerp(slerp(quaternion.identity(), TURN, 0.5), BEND, 0.25)
    np.testing.assert_allclose(
        done.rotations[0, 0], quaternion.multiply(turn, pose.rotations[0, 0]), atol=1e-15
    )
    np.testing.assert_array_equal(done.expressions, pose.expressions)


def test_frames_are_worked_at_once_as_one_by_one():
    character = puppet(
        Expression("a", (JointBind(0, np.array([1.0, 2, 3]), TURN), MorphBind(0, 1)))
    )
    rest = character.rest_pose()
    pose = replace(
        rest,
        translations=np.repeat(rest.translations, 3, 0),
        rotations=np.repeat(rest.rotations, 3, 0),
        scales=np.repeat(rest.scales, 3, 0),
        morph_weights=(np.repeat(rest.morph_weights[0], 3, 0),),
        expressions=np.array([[0], [0.3], [1.0]]),
        ik=np.ones((3, 0), bool),
        visible=np.ones(3, bool),
    )
    whole = applied(character, pose)
    for i in range(3):
        single = applied(character, pose[i])
        np.testing.assert_array_equal(whole.rotations[i], single.rotations[0])
        np.testing.assert_array_equal(whole.translations[i], single.translations[0])
        np.testing.assert_array_equal(whole.morph_weights[0][i], single.morph_weights[0][0])


def test_materials_are_multiplied_before_anything_is_added():
    character = puppet(
        Expression("glow", (MaterialBind(1, "ambient", (0.5,), "add"),)),
        Expression("dim", (MaterialBind(None, "ambient", (0.5,), "multiply"),)),
        rig=MMD,
    )
    changes = material_changes(character, np.array([[1, 0.5]]))
    np.testing.assert_allclose(changes[0, "ambient"], [[[0.75]], [[0]]])
    np.testing.assert_allclose(changes[1, "ambient"], [[[0.75]], [[0.5]]])


def test_two_targets_pull_a_material_from_its_own_value():
    character = puppet(
        Expression("a", (MaterialBind(0, "uv_offset", (1.0, 0)),)),
        Expression("b", (MaterialBind(0, "uv_offset", (0, 1.0)),)),
    )
    factor, term = material_changes(character, np.array([[0.25, 0.5]]))[0, "uv_offset"]
    own = np.array([0.2, 0.4])
    expected = own + 0.25 * ([1, 0] - own) + 0.5 * ([0, 1] - own)
    np.testing.assert_allclose(factor * own + term, expected[None])


def test_uvs_are_shifted_where_expressions_say():
    bind = UvBind(0, 0, 0, np.array([2, 0], np.int32), np.array([[0.5, 0], [0, 1]], np.float32))
    character = puppet(Expression("a", (bind,)), Expression("b", (bind,)))
    offsets = uv_offsets(character, np.array([[0.5, 0.25]]))
    np.testing.assert_array_equal(offsets[0, 0, 0], [[[0, 0.75], [0, 0], [0.375, 0]]])
    assert uv_offsets(character, np.zeros((1, 2))) == {}
