"""Names of bones and morphs as old motions spell them: a few bytes of cp932."""

from __future__ import annotations

CP932 = "cp932"


def name_key(name: str, size: int = 15, encoding: str = CP932) -> bytes | None:
    """The bytes under which a motion knows a bone or morph; None if the name has none.

    A name is cut by bytes, possibly through the middle of a letter; what is left of such a
    letter is a lone surrogate where a motion was decoded with ``surrogateescape``.

    Args:
        name: the full name, as in the model, or what a motion holds of it.
        size: width of the field: 15 for bones and morphs, 20 for IK switches.
        encoding: what the motion was written in; MMD itself knows cp932 only and leaves the
            name of a bone that cp932 cannot spell empty.

    >>> name_key("左腕").hex(), len(name_key("スカート_左前_1_長い")), name_key("骨骼①龙")
    ('8db69872', 15, None)
    """
    try:
        return name.encode(encoding, "surrogateescape")[:size].partition(b"\0")[0]
    except UnicodeEncodeError:
        return None
