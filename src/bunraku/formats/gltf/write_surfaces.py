"""Materials and images into a document.

Specification: glTF 2.0, sections 3.8 (texture data) and 3.9 (materials).
"""

from __future__ import annotations

import io
from typing import Any

from bunraku.formats.gltf.context import Context, Place
from bunraku.formats.gltf.encoding import BufferBuilder, put
from bunraku.formats.gltf.read_surfaces import (
    LINEAR,
    NEAREST,
    TEXTURE_TRANSFORM,
    WRAPS,
    image_of,
    shading_of,
)
from bunraku.model import Image, Material

Tree = dict[str, Any]

_CODES = {mode: code for code, mode in WRAPS.items()}
# Kinds of pictures that a texture names by an extension.
TEXTURE_KINDS = {
    "image/avif": "EXT_texture_avif",
    "image/ktx2": "KHR_texture_basisu",
    "image/vnd-ms.dds": "MSFT_texture_dds",
    "image/webp": "EXT_texture_webp",
}
LARGEST = 1 << 26  # texels of a picture that is decoded


def patch_material(
    root: Tree,
    tree: Tree,
    old: Material | None,
    material: Material,
    media: dict[int, str],
) -> None:
    """Bring a material object from `old` (None: it is new) to `material`.

    Both count the images as the document does; `media` are the kinds of these.
    """
    if material == old:
        return
    if old is None:
        # the model knows no metal; glTF's default would be all of it
        tree["pbrMetallicRoughness"] = {"metallicFactor": 0.0}
    before = old or Material()
    if material.name != before.name:
        put(tree, "name", material.name, "")
    shading = shading_of(tree)
    surface = shading.said(tree)
    if material.base_color != before.base_color:
        color = [min(max(float(c), 0.0), 1.0) for c in material.base_color]
        put(surface, shading.color, color, [1.0, 1.0, 1.0, 1.0])
    if _placed(material) != _placed(before):
        said = surface.get(shading.texture)
        info = dict(said) if isinstance(said, dict) else {}
        if (material.image, _sampling(material)) != (before.image, _sampling(before)):
            same = old is not None and material.image == old.image
            texture = _texture(root, info.get("index"), same, material, media)
            put(info, "index", texture, None)
        _place(root, info, material)
        put(surface, shading.texture, info if "index" in info else {}, {})
    if shading.extension is None:
        put(tree, "pbrMetallicRoughness", surface, {})
    else:
        tree["extensions"] = {**tree["extensions"], shading.extension: surface}
    if material.alpha_mode != before.alpha_mode:
        put(tree, "alphaMode", material.alpha_mode.upper(), "OPAQUE")
    if material.alpha_mode == "mask":
        if material.alpha_cutoff != before.alpha_cutoff:
            put(tree, "alphaCutoff", material.alpha_cutoff, 0.5)
    else:
        tree.pop("alphaCutoff", None)  # only MASK may have one
    if material.double_sided != before.double_sided:
        put(tree, "doubleSided", material.double_sided, False)


def _placed(material: Material) -> tuple[object, ...]:
    """All that is said of the base colour texture and where it is read."""
    transform = (material.uv_offset, material.uv_rotation, material.uv_scale)
    return (material.image, material.uv_set, _sampling(material), *transform)


def _sampling(material: Material) -> dict[str, Any]:
    return {"wrap": material.wrap, "filter": material.filter}


def _texture(
    root: Tree,
    before: Any,
    same: bool,
    material: Material,
    media: dict[int, str],
) -> int | None:
    """A texture that shows the material's image as it says: one there is, or a new one.

    Args:
        before: index of the texture so far: of its sampler stays what the material does not say.
        same: whether that shows the image already: all else that it says stays as well.
        media: kinds of the images.
    """
    image = material.image
    if image is None:
        return None
    textures, samplers = root.setdefault("textures", []), root.setdefault("samplers", [])
    known = textures[before] if isinstance(before, int) and before < len(textures) else {}
    number = known.get("sampler")
    sampler = dict(samplers[number]) if isinstance(number, int) and number < len(samplers) else {}
    for key, mode in zip(("wrapS", "wrapT"), material.wrap, strict=True):
        put(sampler, key, _CODES[mode], 10497)
    if material.filter == "nearest":
        sampler["magFilter"] = NEAREST
    elif sampler.get("magFilter") == NEAREST:
        sampler["magFilter"] = LINEAR
    texture: Tree = dict(known) if same else {}
    if not same:
        show(root, texture, image, media[image])
    if sampler and sampler not in samplers:
        samplers.append(sampler)
    put(texture, "sampler", samplers.index(sampler) if sampler else None, None)
    put(root, "samplers", samplers, [])
    if texture not in textures:
        textures.append(texture)
    return int(textures.index(texture))


def show(root: Tree, texture: Tree, image: int, media: str) -> None:
    """Let a texture show an image in place of what it shows, by the extension of its kind.

    The core of glTF has PNG and JPEG only. Without a `source` of these kinds the extensions are
    required, as each of them says.
    """
    texture.pop("source", None)
    known = TEXTURE_KINDS.values()
    others = {k: v for k, v in texture.get("extensions", {}).items() if k not in known}
    extension = TEXTURE_KINDS.get(media)
    if extension is None:
        texture["source"] = image
    else:
        others[extension] = {"source": image}
        _declare(root, "extensionsUsed", extension)
        _declare(root, "extensionsRequired", extension)
    put(texture, "extensions", others, {})


def _place(root: Tree, info: Tree, material: Material) -> None:
    """Set of coordinates and KHR_texture_transform of a texture reference."""
    put(info, "texCoord", material.uv_set, 0)
    extensions = dict(info.get("extensions", {}))
    before = extensions.get(TEXTURE_TRANSFORM)
    transform = dict(before) if isinstance(before, dict) else {}
    transform.pop("texCoord", None)
    put(transform, "offset", list(material.uv_offset), [0.0, 0.0])
    put(transform, "rotation", material.uv_rotation, 0.0)
    put(transform, "scale", list(material.uv_scale), [1.0, 1.0])
    put(extensions, TEXTURE_TRANSFORM, transform, {})
    put(info, "extensions", extensions, {})
    if transform:
        _declare(root, "extensionsUsed", TEXTURE_TRANSFORM)


def _declare(root: Tree, key: str, extension: str) -> None:
    names = root.get(key, [])
    root[key] = names if extension in names else [*names, extension]


def patch_image(
    root: Tree,
    index: int,
    old: Image | None,
    image: Image,
    builder: BufferBuilder,
    place: Place,
    context: Context,
) -> None:
    """Bring an image of the document from `old` (None: it is new) to `image`."""
    if image == old:
        return
    tree = root["images"][index]
    if old is None or old.name != image.name:
        put(tree, "name", image.name, "")
    if old is None or (old.data, old.mime_type) != (image.data, image.mime_type):
        shown = [t for i, t in enumerate(root.get("textures", ())) if image_of(root, i) == index]
        data, media = _said(image, place, context)
        tree.pop("uri", None)
        tree["bufferView"] = builder.view(data)
        tree["mimeType"] = media
        if media in TEXTURE_KINDS:
            _declare(root, "extensionsUsed", TEXTURE_KINDS[media])
        for texture in shown:
            show(root, texture, index, media)


def _said(image: Image, place: Place, context: Context) -> tuple[bytes, str]:
    """Content and media type: what neither glTF nor a common extension knows becomes PNG."""
    media = image.mime_type or "image/png"
    if media in ("image/png", "image/jpeg", "image/webp", "image/ktx2"):
        return image.data, media
    from PIL import Image as Pictures

    try:
        with Pictures.open(io.BytesIO(image.data)) as picture:
            if picture.width * picture.height > LARGEST:
                raise ValueError(f"{picture.size} are more than 2^26 texels")
            out = io.BytesIO()
            picture.convert("RGBA" if "A" in picture.getbands() else "RGB").save(out, "PNG")
    # Pillow's decoders raise whatever their C libraries and struct give them.
    except Exception as error:
        context.note("image-kept", place, f"{media} is no kind that glTF knows, nor read: {error}")
        return image.data, media
    context.note("image-converted", place, f"{media} is no kind that glTF knows; written as PNG")
    return out.getvalue(), "image/png"


def image_places(
    images: tuple[Image, ...], partners: list[int | None], known: int, context: Context
) -> dict[int, int]:
    """Indices of the images in the document; new ones without data are left out.

    The `known` ones of the document stay where they are, in whatever order they are now, and even
    if nothing continues them: textures that the model does not know may show them.
    """
    result: dict[int, int] = {}
    for i, (image, k) in enumerate(zip(images, partners, strict=True)):
        if k is not None:
            result[i] = k
        elif image.data:
            result[i] = known
            known += 1
        else:
            context.note("image-dropped", ("images", i), "has no data, which glTF cannot say")
    return result
