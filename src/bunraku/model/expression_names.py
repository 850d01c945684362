"""What MMD's models call the expressions that VRM has as presets: convention, no standard."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

# Presets of VRM 1.0 and the morphs that are like them, the nearest first, as motions spell them.
MMD_EXPRESSIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "aa": ("あ",),
        "ih": ("い",),
        "ou": ("う",),
        "ee": ("え",),
        "oh": ("お",),
        "blink": ("まばたき",),
        "blinkLeft": ("ウィンク２", "ウィンク"),
        "blinkRight": ("ｳｨﾝｸ２右", "ウィンク右"),
        "happy": ("にこり", "笑い"),
        "angry": ("怒り",),
        "sad": ("困る", "悲しい"),
        "surprised": ("びっくり",),
    }
)


def plain_name(name: str) -> str:
    """The name in letters of one width.

    >>> plain_name("ｳｨﾝｸ２右")
    'ウィンク2右'
    """
    return unicodedata.normalize("NFKC", name)


_PRESETS = {plain_name(name): preset for preset, names in MMD_EXPRESSIONS.items() for name in names}


def preset_by_name(name: str) -> str | None:
    """The preset that an MMD morph of this name is like; None if there is none.

    >>> preset_by_name("まばたき"), preset_by_name("ウィンク2")
    ('blink', 'blinkLeft')
    """
    return _PRESETS.get(plain_name(name))
