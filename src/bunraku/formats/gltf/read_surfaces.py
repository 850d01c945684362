"""Materials and images of a document, as far as the model has a place for them.

Specification: glTF 2.0, sections 3.8 (texture data) and 3.9 (materials); KHR_texture_transform,
KHR_materials_pbrSpecularGlossiness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bunraku.errors import BunrakuError
from bunraku.formats.gltf.accessors import AccessorReader
from bunraku.formats.gltf.checks import is_finite_number
from bunraku.formats.gltf.context import Context, Place
from bunraku.formats.gltf.uri import decode_data_uri, is_data_uri, read_local
from bunraku.model import Image, Material
from bunraku.model.material import Wrap

Tree = dict[str, Any]

_ALPHA = {"OPAQUE": "opaque", "MASK": "mask", "BLEND": "blend"}
WRAPS: dict[int, Wrap] = {10497: "repeat", 33071: "clamp", 33648: "mirror"}
NEAREST, LINEAR = 9728, 9729
TEXTURE_TRANSFORM = "KHR_texture_transform"


@dataclass(frozen=True)
class Shading:
    """Where a material of a document says its base colour.

    Attributes:
        extension: the extension that does, or None for the core's metal and roughness.
        color, texture: its keys for the colour and its texture.
    """

    extension: str | None
    color: str
    texture: str

    def said(self, material: Tree) -> Tree:
        """The object with these keys, a copy."""
        holder = material if self.extension is None else material.get("extensions", {})
        found = holder.get(self.extension or "pbrMetallicRoughness", {})
        return dict(found) if isinstance(found, dict) else {}


_METAL = Shading(None, "baseColorFactor", "baseColorTexture")
_SPECULAR = Shading("KHR_materials_pbrSpecularGlossiness", "diffuseFactor", "diffuseTexture")


def shading_of(material: Tree) -> Shading:
    """Specular and glossiness where only these say a colour, else metal and roughness.

    >>> shading_of({"extensions": {"KHR_materials_pbrSpecularGlossiness": {}}}).color
    'diffuseFactor'
    """
    metal = _METAL.said(material).keys() & {_METAL.color, _METAL.texture}
    archived = _SPECULAR.extension in material.get("extensions", {})
    return _SPECULAR if archived and not metal else _METAL


def read_material(tree: Tree, material: Tree, place: Place, context: Context) -> Material:
    shading = shading_of(material)
    surface = shading.said(material)
    outer: Place = (*place, "pbrMetallicRoughness")
    if shading.extension is not None:
        outer = (*place, "extensions", shading.extension)
    color = surface.get(shading.color, (1.0, 1.0, 1.0, 1.0))
    if not _is_color(color):  # of an extension: the core's was checked
        context.note("color-unread", (*outer, shading.color), "is no colour; read as white")
        color = (1.0, 1.0, 1.0, 1.0)
    red, green, blue, alpha = color
    texture = surface.get(shading.texture, {})
    if not isinstance(texture, dict):
        context.note("texture-unread", (*outer, shading.texture), "is no object; read as none")
        texture = {}
    return Material(
        material.get("name", ""),
        (float(red), float(green), float(blue), float(alpha)),
        image_of(tree, texture.get("index")),
        alpha_mode=_ALPHA.get(material.get("alphaMode", "OPAQUE"), "opaque"),  # type: ignore[arg-type]
        alpha_cutoff=float(material.get("alphaCutoff", 0.5)),
        double_sided=material.get("doubleSided", False),
        **sampling_of(tree, texture.get("index")),
        **_placement(texture, (*outer, shading.texture), context),
    )


def _is_color(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 4 and all(map(is_finite_number, value))


def sampling_of(tree: Tree, texture: Any) -> dict[str, Any]:
    """`wrap` and `filter` of a material, as the sampler of its texture has them."""
    sampler: Tree = {}
    if _among(texture, tree.get("textures", ())):
        index, samplers = tree["textures"][texture].get("sampler"), tree.get("samplers", ())
        sampler = samplers[index] if _among(index, samplers) else {}
    across, down = (
        WRAPS.get(code, "repeat") if isinstance(code, int) else "repeat"
        for code in (sampler.get("wrapS"), sampler.get("wrapT"))
    )
    nearest = sampler.get("magFilter") == NEAREST
    return {"wrap": (across, down), "filter": "nearest" if nearest else "linear"}


def _placement(texture: Tree, place: Place, context: Context) -> dict[str, Any]:
    """Which coordinates a texture reads, and where (KHR_texture_transform)."""
    uv_set = texture.get("texCoord", 0)
    result = {"uv_set": uv_set if _is_index(uv_set) else 0}
    extensions = texture.get("extensions", {})
    extension = extensions.get(TEXTURE_TRANSFORM, {}) if isinstance(extensions, dict) else {}
    place = (*place, "extensions", TEXTURE_TRANSFORM)
    if not isinstance(extension, dict):
        context.note("texture-transform-unread", place, "is no object; read as none")
        return result
    for key, name in (("offset", "uv_offset"), ("scale", "uv_scale")):
        pair = extension.get(key, [])
        if isinstance(pair, list) and len(pair) == 2 and all(map(is_finite_number, pair)):
            result[name] = (float(pair[0]), float(pair[1]))
        elif key in extension:
            context.note("texture-transform-unread", (*place, key), "is no pair of numbers")
    if is_finite_number(turn := extension.get("rotation", 0)):
        result["uv_rotation"] = float(turn)
    else:
        context.note("texture-transform-unread", (*place, "rotation"), "is no number")
    uv_set = extension.get("texCoord", 0)
    if not _is_index(uv_set):
        context.note("texture-transform-unread", (*place, "texCoord"), "is no index")
    elif "texCoord" in extension:
        result["uv_set"] = uv_set
    return result


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _among(index: Any, things: Sequence[Any]) -> bool:
    return _is_index(index) and index < len(things)


def image_of(tree: Tree, texture: Any) -> int | None:
    """Image of a texture: the plain source, else one an extension names."""
    textures, images = tree.get("textures", ()), tree.get("images", ())
    if not _among(texture, textures):
        return None
    holders = [textures[texture], *textures[texture].get("extensions", {}).values()]
    for holder in holders:
        source = holder.get("source") if isinstance(holder, dict) else None
        if _among(source, images):
            return source
    return None


def read_image(reader: AccessorReader, index: int, context: Context) -> Image:
    image = reader.file.json["images"][index]
    place = f"images[{index}]"
    media, data = "", b""
    if "bufferView" in image:
        view = reader.view(image["bufferView"])
        reader.budget.spend(len(view), place)
        data = bytes(view)
    elif "uri" in image and is_data_uri(image["uri"]):
        reader.budget.spend(len(image["uri"]), place)
        media, data = decode_data_uri(image["uri"], reader.where(f"{place}.uri"))
    elif "uri" in image:
        try:
            data = read_local(image["uri"], reader.file.folder, reader.where(f"{place}.uri"))
        except BunrakuError as error:
            context.note("image-missing", ("images", index), str(error))
    else:
        context.note("image-missing", ("images", index), "has neither a bufferView nor a uri")
    return Image(data, image.get("mimeType") or media_type(data) or media, image.get("name", ""))


def media_type(data: bytes) -> str:
    """Media type of an encoded picture by its first bytes, "" if unknown.

    >>> media_type(b"\\xff\\xd8\\xff\\xe0")
    'image/jpeg'
    """
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return "image/png"
    if data[:3] == b"\xff\xd8\xff":
        return "image/jpeg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return "image/ktx2" if data[:7] == b"\xabKTX 20" else ""
