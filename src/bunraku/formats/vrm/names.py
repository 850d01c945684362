"""Names of bones, expressions and material properties in VRM 0.x and 1.0.

The model speaks 1.0. Sources: VRM 0.0 and VRMC_vrm 1.0, humanoid and expressions; the two
differ in the thumb, whose lowest joint 0.x calls proximal (vrm-specification#380).
"""

from __future__ import annotations

THUMBS_OF_0 = {
    f"{side}Thumb{old}": f"{side}Thumb{new}"
    for side in ("left", "right")
    for old, new in (
        ("Proximal", "Metacarpal"),
        ("Intermediate", "Proximal"),
        ("Distal", "Distal"),
    )
}

PRESETS = (
    *("happy", "angry", "sad", "relaxed", "surprised", "neutral"),
    *("aa", "ih", "ou", "ee", "oh", "blink", "blinkLeft", "blinkRight"),
    *("lookUp", "lookDown", "lookLeft", "lookRight"),
)
PRESETS_OF_0 = {
    "neutral": "neutral",
    "a": "aa",
    "i": "ih",
    "u": "ou",
    "e": "ee",
    "o": "oh",
    "blink": "blink",
    "blink_l": "blinkLeft",
    "blink_r": "blinkRight",
    "joy": "happy",
    "angry": "angry",
    "sorrow": "sad",
    "fun": "relaxed",
    "lookup": "lookUp",
    "lookdown": "lookDown",
    "lookleft": "lookLeft",
    "lookright": "lookRight",
}

# What a MaterialBind calls the colours of materialColorBinds and of 0.x materialValues.
COLORS = {
    "color": "base_color",
    "emissionColor": "emission",
    "shadeColor": "shade_color",
    "matcapColor": "matcap_color",
    "rimColor": "rim_color",
    "outlineColor": "outline_color",
}
COLORS_OF_0 = {
    "_Color": "base_color",
    "_EmissionColor": "emission",
    "_ShadeColor": "shade_color",
    "_RimColor": "rim_color",
    "_OutlineColor": "outline_color",
}

AXES = {
    f"{sign}{axis}": f"{mark}{axis}"
    for sign, mark in (("Positive", "+"), ("Negative", "-"))
    for axis in "XYZ"
}

# Which range map of a gaze is which, in 1.0 and in 0.x.
RANGE_MAPS = {
    "inner": ("rangeMapHorizontalInner", "lookAtHorizontalInner"),
    "outer": ("rangeMapHorizontalOuter", "lookAtHorizontalOuter"),
    "down": ("rangeMapVerticalDown", "lookAtVerticalDown"),
    "up": ("rangeMapVerticalUp", "lookAtVerticalUp"),
}
