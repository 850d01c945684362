"""Small VRM files for tests, assembled by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku.formats import load
from bunraku.formats.gltf import read_gltf
from bunraku.formats.vrm import character_from_vrm, vrm_from_character
from bunraku.model import Character
from tests.formats.same import changed
from tests.formats.sketch import Sketch

# Bone, parent, local translation: a T-pose that faces +Z, 1.6 m high, feet at Y = 0.
BONES: list[tuple[str, str | None, tuple[float, float, float]]] = [
    ("hips", None, (0, 0.9, 0)),
    ("spine", "hips", (0, 0.2, 0)),
    ("chest", "spine", (0, 0.2, 0)),
    ("neck", "chest", (0, 0.15, 0)),
    ("head", "neck", (0, 0.15, 0)),
    *(
        (f"{side}{bone}", parent.format(side), (x * sign, y, z))
        for side, sign in (("left", 1), ("right", -1))
        for bone, parent, (x, y, z) in (
            ("Eye", "head", (0.03, 0.06, 0.05)),
            ("UpperArm", "chest", (0.15, 0.1, 0)),
            ("LowerArm", "{}UpperArm", (0.25, 0, 0)),
            ("Hand", "{}LowerArm", (0.25, 0, 0)),
            ("UpperLeg", "hips", (0.1, 0, 0)),
            ("LowerLeg", "{}UpperLeg", (0, -0.45, 0.01)),
            ("Foot", "{}LowerLeg", (0, -0.45, -0.01)),
        )
    ),
]
NODES = {name: i for i, (name, _, _) in enumerate(BONES)}
HEAD = NODES["head"]
FACE = len(BONES)  # the node of the mesh with morphs
HAIR = FACE + 1  # three nodes: hair, its middle and its end
META = {
    "name": "figure",
    "authors": ["nobody"],
    "licenseUrl": "https://vrm.dev/licenses/1.0/",
}
LINEAR = [0, 0, 0, 1, 1, 1, 1, 0]


def bare_figure(morphs: int = 2) -> Sketch:
    """Bones, a triangle with morph targets on a node of its own, three nodes of hair."""
    nodes: list[dict[str, Any]] = [{"name": name, "translation": list(at)} for name, _, at in BONES]
    for name, parent, _ in BONES:
        if parent is not None:
            nodes[NODES[parent]].setdefault("children", []).append(NODES[name])
    nodes += [
        {"name": "face", "mesh": 0},
        {"name": "hair", "translation": [0, 0.2, -0.1], "children": [HAIR + 1]},
        {"name": "hair middle", "translation": [0, -0.1, 0], "children": [HAIR + 2]},
        {"name": "hair end", "translation": [0, -0.2, 0]},
    ]
    nodes[NODES["head"]]["children"].append(HAIR)
    sketch = Sketch(nodes=nodes, scenes=[{"nodes": [0, FACE]}], scene=0)
    position = sketch.add([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]])
    targets = [{"POSITION": sketch.add([[0, 0, i + 1.0]] * 3)} for i in range(morphs)]
    primitive = {"attributes": {"POSITION": position}, "material": 0, "targets": targets}
    sketch.tree["meshes"] = [{"primitives": [primitive]}]
    sketch.tree["materials"] = [{"name": "skin"}, {"name": "eyes"}, {"name": "eyes"}]
    return sketch


def figure_1(springs: dict[str, Any] | None = None, **vrm: Any) -> Sketch:
    """The figure as VRM 1.0; keywords replace parts of VRMC_vrm, None leaves one out."""
    bones = {name: {"node": node} for name, node in NODES.items()}
    whole = {"specVersion": "1.0", "meta": META, "humanoid": {"humanBones": bones}, **vrm}
    extension = {key: value for key, value in whole.items() if value is not None}
    sketch = bare_figure()
    sketch.tree["extensionsUsed"] = ["VRMC_vrm"]
    sketch.tree["extensions"] = {"VRMC_vrm": extension}
    if springs is not None:
        sketch.tree["extensionsUsed"].append("VRMC_springBone")
        sketch.tree["extensions"]["VRMC_springBone"] = {"specVersion": "1.0", **springs}
    return sketch


def figure_0(**vrm: Any) -> Sketch:
    """The figure as VRM 0.x."""
    bones = [{"bone": name, "node": node} for name, node in NODES.items()]
    whole = {
        "specVersion": "0.0",
        "meta": {"title": "figure", "licenseName": "CC_BY_ND", "allowedUserName": "Everyone"},
        "humanoid": {"humanBones": bones},
        **vrm,
    }
    sketch = bare_figure()
    sketch.tree["extensionsUsed"] = ["VRM"]
    extension = {key: value for key, value in whole.items() if value is not None}
    sketch.tree["extensions"] = {"VRM": extension}
    return sketch


def constrained(*constraints: tuple[str, dict[str, Any]]) -> Sketch:
    """The figure with constraints on bones."""
    sketch = figure_1()
    sketch.tree["extensionsUsed"].append("VRMC_node_constraint")
    for bone, constraint in constraints:
        extension = {"specVersion": "1.0", "constraint": constraint}
        sketch.tree["nodes"][NODES[bone]]["extensions"] = {"VRMC_node_constraint": extension}
    return sketch


def expressions_1(*names: str, **fields: Any) -> dict[str, Any]:
    return {"expressions": {"preset": dict.fromkeys(names, fields)}}


def bones_1(**changes: Any) -> dict[str, Any]:
    bones = {name: {"node": node} for name, node in NODES.items()}
    return {"humanoid": {"humanBones": bones | changes}}


def group_0(**fields: Any) -> dict[str, Any]:
    return {"blendShapeMaster": {"blendShapeGroups": [fields]}}


def chain(*nodes: int, **more: Any) -> dict[str, Any]:
    return {"springs": [{"joints": [{"node": node} for node in nodes], **more}]}


def rich_1() -> Sketch:
    """A VRM 1.0 with some of everything, and with what Bunraku does not know."""
    sketch = figure_1(
        springs={
            "colliders": [
                {"node": HEAD, "shape": {"sphere": {"radius": 0.1}}, "extras": "round"},
                {"node": HEAD, "shape": {"capsule": {"radius": 0.1, "tail": [0, 1, 0]}}},
            ],
            "colliderGroups": [{"name": "head", "colliders": [0, 1]}],
            "springs": [
                {
                    "name": "hair",
                    "joints": [{"node": HAIR, "stiffness": 2, "extras": 1}, {"node": HAIR + 1}],
                    "colliderGroups": [0],
                    "extensions": {"UNKNOWN": {}},
                }
            ],
        },
        expressions={
            "preset": {
                "aa": {
                    "morphTargetBinds": [{"node": FACE, "index": 0, "weight": 1}],
                    "extras": {"maker": "me"},
                },
                "happy": {"isBinary": False, "overrideMouth": "none"},
            },
            "custom": {"wink": {"morphTargetBinds": [{"node": FACE, "index": 1, "weight": 0.5}]}},
        },
        lookAt={
            "type": "bone",
            "offsetFromHeadBone": [0, 0.06, 0],
            "rangeMapVerticalUp": {"inputMaxValue": 90, "outputScale": 12, "extras": 2},
            "extras": 3,
        },
        firstPerson={"meshAnnotations": [{"node": FACE, "type": "auto"}]},
    )
    sketch.tree["nodes"][HAIR]["extensions"] = {
        "VRMC_node_constraint": {
            "specVersion": "1.0",
            "constraint": {"rotation": {"source": HEAD, "weight": 0.5}},
        },
        "UNKNOWN": {},
    }
    return sketch


def rich_0() -> Sketch:
    ball = {"offset": {"x": 0.1, "y": 0.2, "z": 0.3}, "radius": 0.4}
    return figure_0(
        blendShapeMaster={
            "blendShapeGroups": [
                {
                    "name": "A",
                    "presetName": "a",
                    "binds": [{"mesh": 0, "index": 0, "weight": 100}],
                    "materialValues": [
                        {
                            "materialName": "skin",
                            "propertyName": "_MainTex_ST",
                            "targetValue": [1, 2, 3, 4],
                        }
                    ],
                    "isBinary": False,
                    "extras": 1,
                }
            ]
        },
        firstPerson={
            "firstPersonBone": HEAD,
            "lookAtTypeName": "Bone",
            "lookAtVerticalUp": {"curve": [0, 0, 0, 0, 1, 1, 0, 0], "xRange": 80, "yRange": 9},
        },
        secondaryAnimation={
            "boneGroups": [
                {"comment": "hair", "bones": [HAIR], "colliderGroups": [0], "extras": 2}
            ],
            "colliderGroups": [{"node": HEAD, "colliders": [ball]}],
        },
    )


def read(sketch: Sketch) -> Character:
    return character_from_vrm(read_gltf(sketch.glb(), name="x.vrm"))


def written(sketch: Sketch, folder: Path, name: str = "x.vrm") -> Path:
    path = folder / name
    path.write_bytes(sketch.glb())
    return path


def loaded(sketch: Sketch, folder: Path, name: str = "x.vrm") -> Character:
    return load(written(sketch, folder, name))


def noted(character: Character) -> dict[str, str]:
    """Notes as code → place, without the licence."""
    return {n.code: n.place for n in character.notes if not n.code.startswith("licence")}


def json_of(character: Character) -> dict[str, Any]:
    """The tree of what is written, which reads back as the same character."""
    file, _ = vrm_from_character(character)
    again = character_from_vrm(file)
    assert changed(again, character) == []
    return file.json
