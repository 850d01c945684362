"""Real files: what loads, what is refused, and what comes back after saving."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bunraku.errors import BunrakuError, FormatError
from bunraku.formats.gltf import (
    character_from_gltf,
    gltf_from_character,
    read_gltf,
    write_gltf,
)
from bunraku.model import Character, Skeleton
from tests.formats.same import changed
from tests.formats.stored import contents, unread
from tests.formats.validator import errors, validate

SUFFIXES = (".gltf", ".glb", ".vrm", ".vrma")
JUDGED = "gltf-validator-tests"

# Files that must not load, and what the error says.
REFUSED = {
    "RecursiveNodes.gltf": "nodes[0]: is its own ancestor or below one",
    "badArray.gltf": "meshes[0].primitives: expected an array, found an object",
    "badNumber.gltf": "materials[0].normalTexture: index is missing",
    "badObject.gltf": "pbrMetallicRoughness: expected an object, found an array",
    "badString.gltf": "scenes[0].name: expected a string, found 42",
    # the corpus has this file without its buffer
    "DracoSparseMesh.gltf": "buffers[0].uri: file 'DracoSparseMesh.bin' does not exist",
    "animation-invalid-buffer-notfound.gltf": "'/nonexistent1.bin' is not a relative path",
    "animation-invalid.gltf": "animations[9].channels[0].target.node: expected an index",
    "skin-invalid-buffer-notfound.gltf": "'/nonexistent.bin' is not a relative path",
    "skin-invalid.gltf": "skins[0].joints: expected at least one element",
    "animu-sphere__usd-vrm-plugins__invalid.vrm": "found 'not-a-vr'",
    "animu-sphere__usd-vrm-plugins__malformed_glb_json.vrm": "expected a GLB or a JSON object",
    "animu-sphere__usd-vrm-plugins__nonfinite_transform.vrm": "NaN is not a JSON number",
    "animu-sphere__usd-vrm-plugins__out_of_range_joints.vrm": "joint slot 5, but skins[0] has 2",
}

# Files the Khronos validator reports errors for and Bunraku reads: the note, and why.
ACCEPTED = {
    "accessor/byteoffset_no_bufferview": ("offset-ignored", "an offset into nothing"),
    "accessor/empty_array": ("empty-array", "empty is as good as absent"),
    "accessor/float_normalized": ("normalized-ignored", "floats need no normalization"),
    "animation/channel_duplicate_targets": ("duplicate-target", "the first channel is played"),
    "animation/channel_node_matrix": ("animated-matrix", "the matrix decomposes"),
    "animation/channel_node_no_morphs": ("weights-without-targets", "there is nothing to move"),
    "animation/empty_array": ("empty-array", "empty is as good as absent"),
    "animation/sampler_input_no_bounds": ("bounds-missing", "the times themselves are there"),
    "animation_data/invalid_input_values": ("times-negative", "before 0 is still a time"),
    "animation_data/quaternion_cubic_non_unit_values": ("rotation-not-unit", "its direction"),
    "animation_data/quaternion_non_unit_values": ("rotation-not-unit", "its direction is there"),
    "glb/bom": ("json-bom", "readers may ignore it (section 2.7)"),
    "glb/misplaced_bin_chunk": ("glb-bin-not-second", "there is only one BIN chunk"),
    "glb/unaligned_chunk": ("glb-chunk-unaligned", "the lengths add up"),
    "mesh/accessor_attribute_uint32": ("attribute-32-bit", "it is carried, not interpreted"),
    "mesh/empty_array": ("empty-array", "empty is as good as absent"),
    "mesh/invalid_attribute": ("attribute-unknown", "it is carried, not interpreted"),
    "mesh/invalid_attribute_escaped_name": ("attribute-unknown", "as above"),
    "mesh/invalid_indexed_attribute": ("attribute-unknown", "as above"),
    "mesh/morph_attribute_no_base": ("morph-without-base", "there is nothing to displace"),
    "mesh/morph_position_accessor_no_bounds": ("bounds-missing", "the positions are there"),
    "mesh/morph_unequal_targets_count": ("targets-unequal", "missing ones displace nothing"),
    "mesh/morph_weights_wrong_count": ("weights-miscounted", "missing ones are 0"),
    "mesh/position_accessor_no_bounds": ("bounds-missing", "the positions are there"),
    "mesh/uv": ("texture-coordinates-missing", "the surface is whole without its picture"),
    "node/empty_array": ("empty-array", "empty is as good as absent"),
    "node/empty_children_array": ("empty-array", "empty is as good as absent"),
    "node/matrix_indecomposable": ("matrix-not-trs", "the nearest transform is used"),
    "node/node_skin_without_skinned_mesh": ("skin-without-influences", "it moves with its node"),
    "node/node_weights_invalid": ("weights-miscounted", "missing ones are 0"),
    "node/rotation_non_unit": ("rotation-not-unit", "its direction is there"),
    "node/skin_with_no_mesh": ("skin-without-mesh", "there is nothing to hold"),
    "node/unresolved_camera": ("dangling-reference", "cameras are carried"),
    "node/weights_with_no_mesh": ("weights-without-mesh", "there is nothing to move"),
    "skin/empty_array": ("empty-array", "empty is as good as absent"),
    "skin/no_common_root": ("skin-without-common-root", "the joints are there"),
    "skin/no_joints_in_scene": ("skin-outside-scene", "the joints are there"),
    "skin/skeleton_invalid": ("skeleton-not-ancestor", "it has no effect"),
    "skin_data/invalid_ibm": ("inverse-bind-last-row", "the last row has one right value"),
    "target/invalid_channel_target_node": ("animation-pointer", "pointers are carried"),
    "target/invalid_channel_target_path": ("animation-pointer", "pointers are carried"),
    "target/invalid_pointer_syntax": ("animation-pointer", "pointers are carried"),
    "target/missing_pointer": ("animation-pointer", "pointers are carried"),
    "target/unexpected_extension": ("animation-pointer", "pointers are carried"),
    "primitive/non_required": ("extension-not-declared", "the extension is known"),
}

# Errors that Bunraku passes over in silence, and why.
NOT_LOOKED_AT = {
    "accessor_data/invalid_elements_float": "an accessor nothing uses is never decoded",
    "accessor_data/out_of_range_elements_float": "an accessor nothing uses",
    "accessor_data/out_of_range_elements_sint16": "an accessor nothing uses",
    "accessor_data/out_of_range_elements_sint8": "an accessor nothing uses",
    "accessor_data/out_of_range_elements_uint16": "an accessor nothing uses",
    "accessor_data/out_of_range_elements_uint32": "an accessor nothing uses",
    "accessor_data/out_of_range_elements_uint8": "an accessor nothing uses",
    "primitive/unexpected_extension": "an extension object where it means nothing is carried",
}


@pytest.fixture(scope="module")
def files(corpus: Path) -> list[Path]:
    return sorted(path for path in corpus.rglob("*") if path.suffix in SUFFIXES)


@pytest.fixture(scope="module")
def loaded(files: list[Path]) -> dict[Path, Character | BunrakuError]:
    """Every file as a character, or the error it gave."""
    pytest.importorskip("bunraku._core", reason="meshopt data need the compiled core")
    pytest.importorskip("DracoPy", reason="pip install 'bunraku[draco]'")
    found: dict[Path, Character | BunrakuError] = {}
    for path in files:
        try:
            found[path] = character_from_gltf(read_gltf(path))
        except BunrakuError as error:
            found[path] = error
    return found


@pytest.fixture(scope="module")
def characters(loaded: dict[Path, Character | BunrakuError]) -> dict[Path, Character]:
    return {path: found for path, found in loaded.items() if isinstance(found, Character)}


def test_real_files_load_or_give_the_error_they_deserve(loaded):
    assert len(loaded) > 300
    missing = set(REFUSED)
    for path, found in loaded.items():
        if JUDGED in path.parts:
            continue
        if path.name in REFUSED:
            assert isinstance(found, FormatError), path.name
            assert REFUSED[path.name] in str(found)
            assert path.name in str(found)
            missing.remove(path.name)
        else:
            assert isinstance(found, Character), f"{path.name}: {found}"
    assert missing == set()


def short(path: Path) -> str:
    """Folder and stem of a judged file: its key in the tables above."""
    return f"{path.parent.name}/{path.stem}"


def test_the_khronos_validator_is_the_judge(loaded):
    accepted, silent = {}, set()
    for path, found in loaded.items():
        report = path.with_name(path.name + ".report.json")
        if JUDGED not in path.parts or not report.exists():
            continue
        issues = json.loads(report.read_text())["issues"]
        if issues["numErrors"] == 0:
            assert isinstance(found, Character), f"{short(path)}: {found}"
        elif isinstance(found, Character):
            codes = {note.code for note in found.notes}
            if codes & {ACCEPTED.get(short(path), ("",))[0]}:
                accepted[short(path)] = codes
            else:
                silent.add(short(path))
    assert accepted.keys() == ACCEPTED.keys()
    assert silent == NOT_LOOKED_AT.keys()


def test_unchanged_files_are_written_bit_for_bit(characters, tmp_path: Path):
    # bytes after the declared end and chunks of odd length are not written again
    mended = {"extra_data.glb", "unaligned_chunk.glb"}
    for number, (path, character) in enumerate(characters.items()):
        target = tmp_path / str(number) / path.name
        target.parent.mkdir()
        file, notes = gltf_from_character(character)
        assert notes == ()
        write_gltf(file, target)
        assert (target.read_bytes() == path.read_bytes()) != (path.name in mended), path.name
        again = character_from_gltf(read_gltf(target))
        assert changed(again, character) == [], path.name


def nudged(character: Character) -> Character:
    """The character with one number changed."""
    skeleton = character.skeleton
    translations = skeleton.translations.copy()
    translations[0, 0] += 0.125
    fields = (skeleton.names, skeleton.parents, translations, skeleton.rotations, skeleton.scales)
    return replace(character, skeleton=Skeleton(*fields))


def test_changed_files_keep_everything_else_and_stay_valid(characters, tmp_path: Path):
    pairs = []
    for number, (path, character) in enumerate(characters.items()):
        if not len(character.skeleton):
            continue
        after = nudged(character)
        file, _ = gltf_from_character(after)
        before = character.document
        assert file.json.get("accessors") == before.json.get("accessors")
        assert [bytes(b) for b in file.buffers] == [bytes(b) for b in before.buffers]
        target = tmp_path / str(number) / f"{path.stem}{('.glb', '.gltf')[number % 2]}"
        target.parent.mkdir()
        write_gltf(file, target)
        assert changed(character_from_gltf(read_gltf(target)), after) == [], path.name
        pairs.append((path, target))
    assert_no_new_errors(pairs)


def assert_no_new_errors(pairs: list[tuple[Path, Path]]) -> None:
    """The validator says of each second file nothing that it does not say of the first."""
    originals = sorted({path for path, _ in pairs})
    known = dict(zip(originals, map(kinds, validate(originals)), strict=True))
    for (path, target), report in zip(pairs, validate(t for _, t in pairs), strict=True):
        assert not kinds(report) - known[path], f"{target}: {errors(report)}"


def rearranged(character: Character) -> Character:
    """The character with slower clips and with parts, both in the other order."""
    clips = [
        replace(clip, tracks=[replace(track, times=track.times * 2) for track in clip.tracks[::-1]])
        for clip in character.clips[::-1]
    ]
    meshes = [replace(mesh, parts=mesh.parts[::-1]) for mesh in character.meshes]
    return replace(character, clips=clips, meshes=meshes)


def edited(character: Character) -> Character:
    """The character without its first clip, and with one mesh that is a little larger."""
    if not character.meshes:
        return replace(character, clips=character.clips[1:])
    mesh = character.meshes[0]
    geometry = mesh.geometries[0]
    geometries = (replace(geometry, positions=geometry.positions * 1.01), *mesh.geometries[1:])
    meshes = (replace(mesh, geometries=geometries), *character.meshes[1:])
    return replace(character, meshes=meshes, clips=character.clips[1:])


@pytest.mark.parametrize("edit", [edited, rearranged])
def test_edited_files_lose_what_nothing_reads_and_stay_valid(edit, characters, tmp_path: Path):
    pairs = []
    for number, (path, character) in enumerate(characters.items()):
        file, notes = gltf_from_character(edit(character))
        assert not {note.code for note in notes} & {"animation-dropped", "primitive-dropped"}
        was, now = contents(character.document), contents(file)
        for place in was.keys() & now.keys():
            if not place.startswith(("meshes", "animations")):
                assert was[place] == now[place], f"{path.name}: {place}"
        for old, new in zip(unread(character.document.json), unread(file.json), strict=True):
            # numbers in the extras of this one may mean any of its accessors
            assert len(new) <= len(old) or path.name == "teapots_galore.gltf", path.name
        if file is character.document:
            continue
        target = tmp_path / str(number) / f"{path.stem}{('.glb', '.gltf')[number % 2]}"
        target.parent.mkdir()
        write_gltf(file, target)
        assert len(character_from_gltf(read_gltf(target)).clips) <= len(character.clips)
        pairs.append((path, target))
    assert_no_new_errors(pairs)


def kinds(report) -> Counter[str]:
    return Counter(message.split(" ")[0] for message in errors(report))


# What writing from scratch cannot say, by the codes of its notes.
UNSAYABLE = {"clip-dropped", "clip-moved", "image-dropped", "mesh-dropped", "part-dropped"}
UNSAYABLE |= {"root-added", "skin-dropped", "weights-zero-sum"}
# What comes back otherwise without a note: surfaces and repeated keys follow glTF's rules.
MENDED = (".normals", ".tangents", ".times", ".uv_set", ".positions")


def test_files_written_from_scratch_say_the_same_and_are_valid(characters, tmp_path: Path):
    targets = []
    for number, (path, character) in enumerate(characters.items()):
        bare = replace(character, document=None)
        file, notes = gltf_from_character(bare)
        target = tmp_path / f"{number}-{path.stem}.glb"
        write_gltf(file, target)
        if {note.code for note in notes} & UNSAYABLE:
            continue
        again = character_from_gltf(read_gltf(target))
        different = [place for place in changed(again, bare) if not place.endswith(MENDED)]
        assert different == [], f"{path.name}: {different}"
        targets.append(target)
    assert len(targets) > 200
    for target, report in zip(targets, validate(targets), strict=True):
        assert errors(report) == [], target.name
