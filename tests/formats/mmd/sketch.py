"""Small MMD files packed by hand, field by field, so that no writer vouches for its reader."""

from __future__ import annotations

import struct


def pack(codes: str, *values: object) -> bytes:
    return struct.pack("<" + codes, *values)


def text(value: str, encoding: str = "utf-8") -> bytes:
    raw = value.encode(encoding)
    return pack("i", len(raw)) + raw


def named(japanese: str, english: str = "") -> bytes:
    return text(japanese) + text(english)


def pmx_header(version: float = 2.1, sizes: tuple[int, ...] = (1, 1, 1, 1, 1, 1)) -> bytes:
    return b"PMX " + pack("f9B", version, 8, 1, 1, *sizes)


def pmx_vertex(deform: bytes, x: float = 0.0) -> bytes:
    return pack("3f3f2f4f", x, 2, 3, 0, 1, 0, 0.25, 0.75, 9, 8, 7, 6) + deform + pack("f", 0.5)


DEFORMS = (
    pack("Bb", 0, 1),
    pack("Bbbf", 1, 0, 1, 0.25),
    pack("B4b4f", 2, 0, 1, 2, -1, 0.5, 0.25, 0.125, 0),
    pack("Bbbf9f", 3, 2, 1, 0.75, *range(9)),
    pack("B4b4f", 4, 2, 1, 0, 0, 1, 1, 1, 1),
    pack("Bb", 0, 2),
)


def pmx_sections() -> list[bytes]:
    """A model of version 2.1 with one of everything: header, names, then each counted list."""
    vertices = [pmx_vertex(deform, float(i)) for i, deform in enumerate(DEFORMS)]
    material = (
        named("材質", "material")
        + pack("4f3ff3fB4ff", 1, 0.5, 0.25, 1, 0.1, 0.2, 0.3, 5, 0.4, 0.5, 0.6, 0x3F, 0, 0, 0, 1, 2)
        + pack("bbB", 0, 1, 2)
    )
    materials = [
        material + pack("BB", 1, 3) + text("memo") + pack("i", 3),
        material + pack("Bb", 0, -1) + text("") + pack("i", 3),
    ]
    ik = pack("bif", 0, 40, 2.0) + pack("i", 2)
    ik += pack("bB", 1, 0) + pack("bB6f", 2, 1, -3, 0, 0, -0.5, 0, 0)
    bones = [
        named("センター", "center") + pack("3fbiH", 0, 8, 0, -1, 0, 0x001E) + pack("3f", 0, 1, 0),
        named("左腕")
        + pack("3fbiH", 1, 2, 3, 0, 1, 0x3F81)
        + pack("b", 2)
        + pack("bf", 0, -0.5)
        + pack("3f", 1, 0, 0)
        + pack("3f3f", 1, 0, 0, 0, 0, 1)
        + pack("i", 7),
        named("足ＩＫ") + pack("3fbiH", 0, 0, 0, 1, 2, 0x0020) + pack("3f", 0, 0, 1) + ik,
    ]

    def morph(name: str, kind: int, *offsets: bytes) -> bytes:
        return named(name) + pack("BBi", 3, kind, len(offsets)) + b"".join(offsets)

    morphs = [
        morph("group", 0, pack("bf", 1, 0.5), pack("bf", 0, 1)),
        morph("vertex", 1, pack("B3f", 5, 1, 2, 3)),
        morph("bone", 2, pack("b3f4f", 1, 1, 2, 3, 0, 0, 0, 1)),
        *(morph(f"uv{i}", 3 + i, pack("B4f", i, 1, 2, 3, 4)) for i in range(5)),
        morph("material", 8, pack("bB28f", -1, 1, *range(28)), pack("bB28f", 1, 0, *range(28))),
        morph("flip", 9, pack("bf", 2, 1)),
        morph("impulse", 10, pack("bB3f3f", 0, 1, 1, 2, 3, 4, 5, 6)),
    ]
    frames = [
        named("Root", "Root") + pack("Bi", 1, 1) + pack("Bb", 0, 0),
        named("表情", "Exp") + pack("Bi", 1, 2) + pack("BbBb", 1, 3, 1, 0),
    ]
    bodies = [
        named("body") + pack("bBHB3f3f3f5fB", 1, 15, 0xFFF0, 2, *range(9), *range(5), 1),
        named("other") + pack("bBHB3f3f3f5fB", -1, 0, 1, 0, *range(9), *range(5), 0),
    ]
    joints = [named("joint") + pack("Bbb24f", 5, 0, 1, *range(24))]
    soft = named("soft") + pack("BbBHBiiffi", 1, 0, 2, 0xABCD, 5, 1, 2, 0.5, 0.25, 3)
    soft += pack("12f6f4i3f", *range(12), *range(6), *range(4), *range(3))
    soft += pack("i", 1) + pack("bBB", 1, 5, 1) + pack("i", 2) + pack("BB", 4, 5)
    lists = [
        vertices,
        [pack("B", i) for i in (0, 1, 2, 5, 4, 3)],
        [text("tex\\体.png"), text("a/b.sph")],
        materials,
        bones,
        morphs,
        frames,
        bodies,
        joints,
        [soft],
    ]
    names = named("名前", "name") + named("説明", "comment")
    return [pmx_header(), names] + [pack("i", len(items)) + b"".join(items) for items in lists]


def whole_pmx() -> bytes:
    return b"".join(pmx_sections())


def field(value: str, size: int, junk: bytes = b"") -> bytes:
    raw = value.encode("cp932")
    return (raw + b"\0" + junk).ljust(size, b"\0")[:size] if len(raw) < size else raw[:size]


def vmd_sections() -> list[bytes]:
    """Header and name, then the six sections."""
    rows = bytes([20, 21, 0x63, 0x0F, *range(24, 36)]) + bytes(range(36, 84))
    bones = [
        field("左腕", 15, b"\xfd" * 9) + pack("I3f4f", 30, 1, 2, 3, 0, 0, 0, 1) + rows,
        field("スカート_前_左_1", 15) + pack("I3f4f", 0, 0, 0, 0, 0, 0, 0, 0) + bytes(64),
        field("左腕", 15) + pack("I3f4f", 10, 4, 5, 6, 0, 1, 0, 0) + rows,
    ]
    morphs = [field("あ", 15) + pack("If", 5, 0.5)]
    cameras = [
        pack("If3f3f", 0, -45, 0, 10, 0, 0.1, 0.2, 0.3) + bytes(range(24)) + pack("IB", 30, 0)
    ]
    lights = [pack("I3f3f", 0, 0.6, 0.6, 0.6, -0.5, -1, 0.5)]
    shadows = [pack("IBf", 0, 1, 0.08875)]
    switches = field("左足ＩＫ", 20) + b"\0" + field("右足ＩＫ", 20) + b"\1"
    properties = [pack("IBI", 3, 1, 2) + switches, pack("IBI", 9, 0, 0)]
    header = b"Vocaloid Motion Data 0002".ljust(30, b"\0") + field("初音ミク", 20, b"\xcd" * 3)
    lists = [bones, morphs, cameras, lights, shadows, properties]
    return [header] + [pack("I", len(items)) + b"".join(items) for items in lists]


def pmd_sections() -> list[bytes]:
    """Everything up to the display frames, then the four parts of the tail."""
    vertices = [pack("8f2H2B", i, 0, 0, 0, 1, 0, 0.5, 0.5, 0, 1, 100 - i, i) for i in range(3)]
    vertices.append(pack("8f2H2B", 3, 0, 0, 0, 1, 0, 0, 0, 0, 0xFFFF, 100, 0))
    material = pack("4ff3f3fbBI", 1, 1, 1, 1, 5, 0, 0, 0, 0.5, 0.5, 0.5, -1, 1, 6)
    bones = [
        field("センター", 20, b"\xfd" * 4) + pack("HHBH3f", 0xFFFF, 1, 1, 0, 0, 8, 0),
        field("左ひざ", 20) + pack("HHBH3f", 0, 0, 4, 1, 1, 2, 3),
    ]
    ik = pack("HHBHf", 0, 1, 2, 40, 0.5) + pack("HH", 1, 0)
    skins = [
        field("base", 20) + pack("IB", 1, 0) + pack("I3f", 2, 1, 2, 3),
        field("あ", 20) + pack("IB", 1, 3) + pack("I3f", 0, 4, 5, 6),
    ]
    body = b"Pmd" + pack("f", 1.0) + field("初音ミク", 20, b"\xfd" * 5) + field("説明", 256)
    body += pack("I", len(vertices)) + b"".join(vertices)
    body += pack("I6H", 6, 0, 1, 2, 2, 1, 3)
    body += pack("I", 1) + material + field("a.bmp*b.sph", 20)
    body += pack("H", 2) + b"".join(bones) + pack("H", 1) + ik
    body += pack("H", 2) + b"".join(skins) + pack("BH", 1, 1)
    body += pack("B", 1) + field("体\n", 50) + pack("I", 1) + pack("HB", 1, 1)
    english = b"\1" + field("Miku", 20) + field("comment", 256)
    english += field("center", 20) + field("knee", 20) + field("a", 20) + field("Body", 50)
    toons = b"".join(field(f"toon{i:02}.bmp", 100) for i in range(1, 11))
    rigid = (
        pack("I", 1) + field("頭", 20) + pack("HBHB3f3f3f5fB", 0, 1, 2, 3, *range(9), *range(5), 2)
    )
    joints = pack("I", 1) + field("首", 20) + pack("II24f", 0, 0, *range(24))
    return [body, english, toons, rigid, joints]


VPD = (
    "Vocaloid Pose Data file\r\n\r\n"
    "初音ミク.osm;\t\t// 親ファイル名\r\n"
    "2;\t\t\t\t// 総ポーズボーン数\r\n\r\n"
    "Bone0{右腕\r\n"
    "  -0.000000,0.500000,0.000000;\t\t\t\t// trans x,y,z\r\n"
    "  0.024172,0.005823,-0.360407,0.932468;\t\t// Quaternion x,y,z,w\r\n"
    "}\r\n\r\n"
    "Bone1{ソ能\r\n"
    "  1.000000,2.000000,3.000000;\t\t\t\t// trans x,y,z\r\n"
    "  0.000000,0.000000,0.000000,1.000000;\t\t// Quaternion x,y,z,w\r\n"
    "}\r\n\r\n"
    "Morph0{あ\r\n"
    "  0.250000;\r\n"
    "}\r\n\r\n"
).encode("cp932")
