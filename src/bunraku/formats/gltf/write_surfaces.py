"""Materials and images into a document.

Specification: glTF 2.0, sections 3.8 (texture data) and 3.9 (materials).
"""

from __future__ import annotations

import io
from typing import Any

from bunraku.formats.gltf.context import Context, Place
from bunraku.formats.gltf.encoding import BufferBuilder, put
from bunraku.formats.gltf.from_gltf import LINEAR, NEAREST, TEXTURE_TRANSFORM, WRAPS, sampling_of
from bunraku.model import Image, Material

Tree = dict[str, Any]

_CODES = {mode: code for code, mode in WRAPS.items()}
LARGEST = 1 << 26  # texels of a picture that is decoded


def patch_material(
    root: Tree, tree: Tree, old: Material | None, material: Material, images: dict[int, int]
) -> None:
    """Bring a material object from `old` (None: it is new) to `material`.

    `images` maps the character's images to those of the document.
    """
    if material == old:
        return
    if old is None:
        # the model knows no metal; glTF's default would be all of it
        tree["pbrMetallicRoughness"] = {"metallicFactor": 0.0}
    before = old or Material()
    if material.name != before.name:
        put(tree, "name", material.name, "")
    surface = dict(tree.get("pbrMetallicRoughness", {}))
    if material.base_color != before.base_color:
        color = [min(max(float(c), 0.0), 1.0) for c in material.base_color]
        put(surface, "baseColorFactor", color, [1.0, 1.0, 1.0, 1.0])
    if _placed(material) != _placed(before):
        info = dict(surface.get("baseColorTexture", {}))
        if (material.image, _sampling(material)) != (before.image, _sampling(before)):
            image = None if material.image is None else images.get(material.image)
            same = info.get("index") if material.image == before.image else None
            put(info, "index", _texture(root, image, same, material), None)
        _place(root, info, material)
        put(surface, "baseColorTexture", info if "index" in info else {}, {})
    put(tree, "pbrMetallicRoughness", surface, {})
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


def _texture(root: Tree, image: int | None, same: int | None, material: Material) -> int | None:
    """A texture that shows the image, sampled as the material says: one there is, or a new one.

    Args:
        same: the texture that shows this image so far; a new one has whatever else it says.
    """
    if image is None:
        return None
    textures = root.setdefault("textures", [])
    for i, texture in enumerate(textures):
        if texture.get("source") == image and sampling_of(root, i) == _sampling(material):
            return i
    texture = {"source": image} if same is None else dict(textures[same])
    samplers = root.setdefault("samplers", [])
    before = texture.get("sampler")
    sampler = dict(samplers[before]) if isinstance(before, int) and before < len(samplers) else {}
    for key, mode in zip(("wrapS", "wrapT"), material.wrap, strict=True):
        put(sampler, key, _CODES[mode], 10497)
    if material.filter == "nearest":
        sampler["magFilter"] = NEAREST
    elif sampler.get("magFilter") == NEAREST:
        sampler["magFilter"] = LINEAR
    if sampler:
        if sampler not in samplers:
            samplers.append(sampler)
        texture["sampler"] = samplers.index(sampler)
    else:
        texture.pop("sampler", None)
    put(root, "samplers", samplers, [])
    textures.append(texture)
    return len(textures) - 1


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
    used = root.get("extensionsUsed", [])
    if transform and TEXTURE_TRANSFORM not in used:
        root["extensionsUsed"] = [*used, TEXTURE_TRANSFORM]


def patch_image(
    tree: Tree,
    old: Image | None,
    image: Image,
    builder: BufferBuilder,
    place: Place,
    context: Context,
) -> None:
    """Bring an image object from `old` (None: it is new) to `image`."""
    if image == old:
        return
    if old is None or old.name != image.name:
        put(tree, "name", image.name, "")
    if old is None or (old.data, old.mime_type) != (image.data, image.mime_type):
        data, media = _said(image, place, context)
        tree.pop("uri", None)
        tree["bufferView"] = builder.view(data)
        tree["mimeType"] = media


def _said(image: Image, place: Place, context: Context) -> tuple[bytes, str]:
    """Content and media type: glTF and its extensions know four kinds, others become PNG."""
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


def writable_images(images: tuple[Image, ...], kept: int, context: Context) -> dict[int, int]:
    """Indices of the images in the document: new ones without data are left out."""
    result: dict[int, int] = {}
    for i, image in enumerate(images):
        if i >= kept and not image.data:
            context.note("image-dropped", ("images", i), "has no data, which glTF cannot say")
        else:
            result[i] = len(result)
    return result
