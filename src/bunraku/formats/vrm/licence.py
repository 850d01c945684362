"""What a VRM allows: its licence terms as notes, and as text for who has no other place.

The terms themselves stay in the document word for word. Sources: VRM 0.0 and VRMC_vrm 1.0, meta.
"""

from __future__ import annotations

from typing import Any

from bunraku.formats.gltf import GltfFile
from bunraku.formats.vrm.fields import Fields, Tree

CODES = ("licence-redistribution", "licence-modification", "licence-usage")

LICENCE = "https://vrm.dev/licenses/1.0/"

_SHOWN = 200
# What is asked, the property that answers, and what its absence means.
_USAGE_1 = (
    ("avatar", "avatarPermission", "onlyAuthor"),
    ("commercial", "commercialUsage", "personalNonProfit"),
    ("credit", "creditNotation", "required"),
    ("violent", "allowExcessivelyViolentUsage", False),
    ("sexual", "allowExcessivelySexualUsage", False),
    ("political or religious", "allowPoliticalOrReligiousUsage", False),
    ("antisocial or hate", "allowAntisocialOrHateUsage", False),
)
_USAGE_0 = (
    ("avatar", "allowedUserName", "not stated"),
    ("commercial", "commercialUssageName", "not stated"),
    ("violent", "violentUssageName", "not stated"),
    ("sexual", "sexualUssageName", "not stated"),
)


def note_licence_1(extension: Fields) -> None:
    """Notes on redistribution, modification and use by a VRMC_vrm meta; defaults forbid."""
    meta = _meta(extension)
    if meta is None:
        return
    where = "".join(
        f"; {key} {_shown(meta.tree[key])}"
        for key in ("licenseUrl", "otherLicenseUrl", "thirdPartyLicenses")
        if meta.tree.get(key)
    )
    allowed = meta.tree.get("allowRedistribution") is True
    meta.note(CODES[0], ("allowed" if allowed else "prohibited") + where)
    meta.note(CODES[1], _shown(meta.tree.get("modification", "prohibited")))
    meta.note(CODES[2], _listed(meta, _USAGE_1))


def note_licence_0(extension: Fields) -> None:
    """The same for a 0.x meta, whose licence has a name and no separate word on modification."""
    meta = _meta(extension)
    if meta is None:
        return
    name = _shown(meta.tree.get("licenseName", "not stated"))
    other = meta.tree.get("otherLicenseUrl")
    more = f" ({_shown(other)})" if other else ""
    redistribution = {
        "Redistribution_Prohibited": "prohibited",
        "Other": f"see the licence{more}",
    }.get(name, "as the licence says" if name.startswith("CC") else "not stated")
    modification = {
        "Redistribution_Prohibited": "not stated",
        "Other": f"see the licence{more}",
    }.get(name, "not stated" if not name.startswith("CC") else "allowed")
    if name.endswith("_ND"):
        modification = "prohibited"
    meta.note(CODES[0], f"{redistribution}; licenseName {name}")
    meta.note(CODES[1], f"{modification}; licenseName {name}")
    terms = meta.tree.get("otherPermissionUrl")
    more = f"; otherPermissionUrl {_shown(terms)}" if terms else ""
    meta.note(CODES[2], _listed(meta, _USAGE_0) + more)


def licence_text(file: GltfFile) -> str:
    """Title, authors and terms of a document in lines, as its meta spells them; "" without any.

    Of VRM 1.0 with the defaults, for what is not said there is forbidden.

    >>> meta = {"title": "Doll", "author": "me", "licenseName": "CC_BY", "texture": 3}
    >>> tree = {"asset": {"version": "2.0"}, "extensions": {"VRM": {"meta": meta}}}
    >>> licence_text(GltfFile(tree))
    'title: Doll\\nauthor: me\\nlicenseName: CC_BY'
    """
    meta: Tree = {}
    for name in ("VRMC_vrm", "VRM"):
        extension = file.json.get("extensions", {}).get(name)
        found = extension.get("meta") if isinstance(extension, dict) else None
        if isinstance(found, dict):
            meta = found
            break
    if meta and name == "VRMC_vrm":
        defaults: Tree = {key: default for _, key, default in _USAGE_1}
        meta = {**meta, **{key: no for key, no in defaults.items() if key not in meta}}
        meta = {"allowRedistribution": False, "modification": "prohibited"} | meta
    if not meta and isinstance(file.json.get("asset", {}).get("copyright"), str):
        meta = {"copyright": file.json["asset"]["copyright"]}
    lines = []
    for key, value in meta.items():
        values = value if isinstance(value, list) else [value]
        if key not in ("texture", "thumbnailImage", "extras", "extensions") and any(
            each not in ("", None) for each in values
        ):
            lines.append(f"{key}: {', '.join(map(_said, values))}")
    return "\n".join(lines)


def _said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _listed(meta: Fields, usage: tuple[tuple[str, str, Any], ...]) -> str:
    return ", ".join(f"{what}: {_shown(meta.tree.get(key, no))}" for what, key, no in usage)


def _meta(extension: Fields) -> Fields | None:
    """The meta object; it is only carried, so a broken one stops nothing."""
    value = extension.tree.get("meta")
    if isinstance(value, dict):
        return Fields(value, extension.at("meta"), extension.context)
    extension.note("licence-missing", "there is no meta object: no terms of use are stated", "meta")
    return None


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "allowed" if value else "prohibited"
    text = " ".join(value.split()) if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
