"""What a bake writes is the stage's own geometry, frame by frame."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku import RigError, Stage, UnsupportedError, bake, load
from bunraku.model import (
    Append,
    Attachment,
    Character,
    Clip,
    Expression,
    Geometry,
    IkChain,
    IkLink,
    MaterialBind,
    Mesh,
    MorphBind,
    MorphTarget,
    Part,
    Rig,
    Skeleton,
    Skin,
    Track,
)


@pytest.fixture(scope="module")
def stage() -> Stage:
    puppet = bunraku.make_puppet()
    return Stage(puppet, puppet.clips[0])


def test_an_unknown_suffix_is_refused_before_anything_is_written(
    stage: Stage, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedError, match=r"\.fbx: expected a name ending in \.glb"):
        bake(stage, tmp_path / "out.fbx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf"), "a", None, [30, 60]])
def test_impossible_frame_rates_are_refused(stage: Stage, tmp_path: Path, fps: float) -> None:
    with pytest.raises(RigError, match="fps"):
        bake(stage, tmp_path / "out.npy", fps=fps)


def test_a_character_without_vertices_has_nothing_to_bake(tmp_path: Path) -> None:
    bones = Character(Skeleton(("root",), [-1]), name="bones")
    with pytest.raises(RigError, match="bones shows no vertices"):
        bake(Stage(bones), tmp_path / "out.npy")


def test_a_missing_folder_is_named(stage: Stage, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        bake(stage, tmp_path / "nowhere" / "out.npy", fps=1)


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_npy_holds_every_frame(stage: Stage, tmp_path: Path, method) -> None:
    baked = bake(stage, tmp_path / "out.npy", method=method, fps=7.5)
    times = stage.frame_times(7.5)
    assert (baked.frames, baked.vertices, baked.method) == (len(times), stage.vertex_count, method)
    loaded = np.load(tmp_path / "out.npy")
    np.testing.assert_array_equal(loaded, stage.deform(times, method=method).positions)


def test_npz_holds_times_ranges_and_normals(stage: Stage, tmp_path: Path) -> None:
    bake(stage, tmp_path / "out.npz", fps=4)
    whole = stage.deform(stage.frame_times(4), normals=True)
    with np.load(tmp_path / "out.npz") as loaded:
        np.testing.assert_array_equal(loaded["positions"], whole.positions)
        np.testing.assert_array_equal(loaded["normals"], whole.normals)
        np.testing.assert_array_equal(loaded["times"], stage.frame_times(4))
        first = stage.ranges[0]
        assert loaded["ranges"][0].tolist() == [
            first.start, first.stop, first.attachment, first.node, first.mesh, first.geometry
        ]  # fmt: skip


def test_pc2_holds_every_frame(stage: Stage, tmp_path: Path) -> None:
    baked = bake(stage, tmp_path / "out.pc2", fps=4)
    data = (tmp_path / "out.pc2").read_bytes()
    header = struct.unpack("<12siiffi", data[:32])
    assert header == (b"POINTCACHE2\0", 1, baked.vertices, 0.0, 1.0, baked.frames)
    frames = np.frombuffer(data[32:], "<f4").reshape(baked.frames, baked.vertices, 3)
    np.testing.assert_array_equal(frames, stage.deform(stage.frame_times(4)).positions)


def test_obj_is_one_file_a_frame(stage: Stage, tmp_path: Path) -> None:
    baked = bake(stage, tmp_path / "out.obj", fps=2)
    assert [path.name for path in baked.files[:2]] == ["out_0000.obj", "out_0001.obj"]
    assert len(baked.files) == baked.frames == len(list(tmp_path.iterdir()))
    lines = baked.files[1].read_text().splitlines()
    vertices = np.array([line.split()[1:] for line in lines if line.startswith("v ")], np.float32)
    np.testing.assert_array_equal(vertices, stage.deform(0.5, normals=True).positions[0])
    assert sum(line.startswith("f ") for line in lines) == len(stage.triangles)


def test_obj_has_no_normals_where_the_character_has_none(tmp_path: Path) -> None:
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    plain, shaded = Geometry(corners), Geometry(corners, normals=[[0, 0, 1]] * 3)
    parts = (Part(0, [[0, 1, 2]]), Part(1, [[0, 1, 2]]))
    figure = Character(
        Skeleton(("root",), [-1]),
        (Mesh("m", (plain, shaded), parts),),
        attachments=(Attachment(0, 0),),
        clips=(Clip("still", (Track(0, "translation", [0.0], [[0, 0, 0]]),)),),
    )
    (frame,) = bake(Stage(figure, 0), tmp_path / "out.obj").files
    faces = [line for line in frame.read_text().splitlines() if line.startswith("f ")]
    assert faces == ["f 1 2 3", "f 4//4 5//5 6//6"]


def test_glb_plays_the_clip_resampled(stage: Stage, tmp_path: Path) -> None:
    baked = bake(stage, tmp_path / "out.glb", fps=30)
    again = load(tmp_path / "out.glb")
    assert [clip.name for clip in again.clips] == [stage.clip.name]
    times = stage.frame_times(30)
    played = Stage(again, 0).deform(times).positions
    expected = stage.deform(times).positions
    size = float(np.ptp(expected.reshape(-1, 3), axis=0).max())
    np.testing.assert_allclose(played, expected, rtol=0, atol=1e-5 * size)
    assert baked.frames == len(times)


def test_glb_holds_what_a_rig_does(tmp_path: Path) -> None:
    rest = [[0, 2, 0], [0, -1, 0.05], [0, -1, -0.05], [0, 0, 0], [0.2, 0, 0]]
    skeleton = Skeleton(("hip", "knee", "foot", "goal", "twin"), [-1, 0, 1, -1, -1], rest)
    chain = IkChain(3, 2, (IkLink(1), IkLink(0)), 20, 2.0)
    rig = Rig(layers=[0, 0, 0, 1, 2], appends=(Append(4, 1, 0.5),), chains=(chain,))
    raised = MorphTarget([0], positions=[[0, 0, 1]])
    geometry = Geometry(
        [[0, 2, 0], [0, 1, 0], [0, 0, 0]],
        joints=[[0], [1], [2]],
        weights=[[1]] * 3,
        morphs=(raised,),
    )
    inverse = np.tile(np.eye(4), (3, 1, 1))
    inverse[:, :3, 3] = -np.cumsum(rest[:3], axis=0)
    dancer = Character(
        skeleton,
        (Mesh("leg", (geometry,), (Part(0, [[0, 1, 2]]),), ("up",)),),
        (Skin([0, 1, 2], inverse),),
        (Attachment(4, 0, 0),),
        expressions=(Expression("up", (MorphBind(0, 0),)),),
        rig=rig,
    )
    steps = Track("goal", "translation", [0, 1], [[0, 0, 0], [0, 0.9, 0.4]])
    smile = Track("up", "expression", [0, 1], [[0], [1]])
    stage = Stage(dancer, Clip("step", (steps, smile)))
    times = stage.frame_times(10)
    bake(stage, tmp_path / "out.glb", fps=10)
    played = Stage(load(tmp_path / "out.glb"), 0)
    expected = stage.global_transforms(times)
    assert np.ptp(expected[:, 4, 1, 1]) > 0.1
    np.testing.assert_allclose(played.global_transforms(times)[:, :5], expected, atol=1e-6)
    np.testing.assert_allclose(
        played.deform(times).positions, stage.deform(times).positions, atol=1e-6
    )


def test_glb_says_what_it_leaves_out(corpus: Path, tmp_path: Path) -> None:
    fox = load(corpus / "gltf_usd_fbx_bvh/khronos-sample-assets/Models/Fox/glTF-Binary/Fox.glb")
    baked = bake(Stage(fox, "Run"), tmp_path / "run.glb", method="dqs")
    assert [note.code for note in baked.notes] == ["clips-left-out", "method-not-stored"]
    assert "'Survey', 'Walk'" in baked.notes[0].message


def test_glb_says_which_looks_it_leaves_out(tmp_path: Path) -> None:
    puppet = bunraku.make_puppet(0.5)
    binds = (MaterialBind(0, "base_color", (1.0, 0.0, 0.0, 1.0)),)
    faces = (Expression("blush", binds), Expression("never", binds), Expression("bare"))
    clip = Clip(
        "",
        (
            Track("blush", "expression", [0, 1], [[0], [0.5]]),
            Track("bare", "expression", [0, 1], [[0], [1]]),
            Track("", "visible", [0, 0.5], [[1], [0]], "STEP"),
        ),
    )
    stage = Stage(replace(puppet, expressions=faces), clip)
    notes = bake(stage, tmp_path / "a.glb").notes
    said = {note.code: note.message for note in notes}
    assert said["paint-left-out"].endswith("were not written: 'blush'")
    assert "visibility-left-out" in said
    shown = bake(Stage(puppet, 0), tmp_path / "b.glb").notes
    assert {note.code for note in shown}.isdisjoint({"paint-left-out", "visibility-left-out"})


def test_a_long_bake_stays_within_its_working_set(stage: Stage, tmp_path: Path) -> None:
    tracemalloc = pytest.importorskip("tracemalloc")
    tracemalloc.start()
    try:
        baked = bake(stage, tmp_path / "out.npy", fps=2000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    written = (tmp_path / "out.npy").stat().st_size
    assert baked.working_set <= 33 << 20
    # Chunk, the copy that is being written, poses in the making: a few working sets, however
    # long the clip; the file is several times larger.
    assert peak < 4 * baked.working_set < written


def test_progress_counts_up_to_the_end(stage: Stage, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    baked = bake(stage, tmp_path / "out.npy", fps=300, progress=lambda *now: seen.append(now))
    assert len(seen) > 1
    assert seen == sorted(seen)
    assert seen[-1] == (baked.frames, baked.frames)


def test_vmd_plays_on_the_model_as_the_motion_did(stage: Stage, tmp_path: Path) -> None:
    bunraku.save(stage.character, tmp_path / "puppet.pmx")
    baked = bake(stage, tmp_path / "out.vmd")
    assert baked.notes == ()
    model = load(tmp_path / "puppet.pmx")
    (motion,) = bunraku.load_clips(tmp_path / "out.vmd")
    again = Stage(model, motion)
    assert again.notes == ()
    times = stage.frame_times(30)[::7]
    there, here = again.global_transforms(times), stage.global_transforms(times)
    np.testing.assert_allclose(there[..., 3], here[..., 3], atol=1e-6)


def test_vmd_has_thirty_frames_a_second(stage: Stage, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="30 frames a second"):
        bake(stage, tmp_path / "out.vmd", fps=24)


def test_vmd_says_when_switches_change(tmp_path: Path) -> None:
    rig = Rig(chains=(IkChain(1, 0, (), 1, 1.0),))
    character = Character(Skeleton(("a", "b"), [-1, 0]), rig=rig, expressions=(Expression("m"),))
    tracks = (
        Track("b", "ik", [0, 0.1, 0.2], [[1], [0], [0]], "STEP"),
        Track("", "visible", [0, 0.2], [[1], [0]], "STEP"),
        Track("m", "expression", [0, 0.2], [[0], [1]]),
    )
    bake(Stage(character, Clip("c", tracks)), tmp_path / "out.vmd")
    (motion,) = bunraku.load_clips(tmp_path / "out.vmd")
    found = {each.path: each for each in motion.tracks}
    assert found["ik"].values[:, 0].tolist() == [1, 0, 0]
    assert (found["ik"].times * 30).round().tolist() == [0, 3, 6]
    assert found["visible"].values[:, 0].tolist() == [1, 1, 0]
    assert found["expression"].key_count == 7


def test_bvh_holds_the_skeleton_and_its_motion(stage: Stage, tmp_path: Path) -> None:
    baked = bake(stage, tmp_path / "out.bvh", fps=10)
    assert {note.code for note in baked.notes} <= {"track-dropped"}
    again = load(tmp_path / "out.bvh")
    nodes = [again.skeleton.names.index(name) for name in stage.character.skeleton.names]
    times = stage.frame_times(10)
    there = Stage(again, 0).global_transforms(times)[:, nodes]
    np.testing.assert_allclose(there, stage.global_transforms(times), atol=1e-5)


def test_glb_says_what_the_format_cannot(corpus: Path, tmp_path: Path) -> None:
    elbow = load(corpus / "vrm_mmd/yohawing__unity-mmd-loader__sdef-two-bone-elbow.pmx")
    still = Clip("still", (Track(0, "translation", [0, 1], [[0, 0, 0]] * 2),))
    baked = bake(Stage(elbow, still), tmp_path / "still.glb")
    assert any("SDEF" in note.message for note in baked.notes)
