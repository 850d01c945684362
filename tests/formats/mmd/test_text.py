from __future__ import annotations

import copy
import pickle

import pytest

from bunraku.errors import FormatError
from bunraku.formats.mmd.text import (
    CP932,
    Text,
    decode_field,
    decode_text,
    encode_field,
    encode_text,
)
from bunraku.model.names import name_key

# bytes that their letters alone would not bring back
ODD = {
    "half a letter at the end": (b"\x8d\xb6\x98", CP932),
    "no letter": (b"\x81\x20", CP932),
    "a letter with two codes": (b"\x87\x9b", CP932),
    "no UTF-8": (b"\xc3", "utf-8"),
    "half a UTF-16 unit": (b"A\0B", "utf-16-le"),
    "half a surrogate pair": (b"\x00\xd8", "utf-16-le"),
}


@pytest.mark.parametrize(("raw", "encoding"), ODD.values(), ids=ODD.keys())
def test_odd_bytes_survive_and_do_not_hide_a_change(raw: bytes, encoding: str):
    text = decode_text(raw, encoding)
    assert isinstance(text, Text)
    assert encode_text(text, encoding, "x") == raw
    for same in (copy.copy(text), copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert encode_text(same, encoding, "x") == raw
    assert encode_text("左", encoding, "x") == "左".encode(encoding)


@pytest.mark.parametrize("encoding", [CP932, "utf-8", "utf-16-le"])
def test_plain_texts_are_plain(encoding: str):
    for raw in ("左腕ソ能ｱ〜~"[:-2].encode(encoding), b"", "a".encode(encoding)):
        text = decode_text(raw, encoding)
        assert type(text) is str
        assert encode_text(text, encoding, "x") == raw


def test_a_text_of_another_encoding_is_encoded_anew():
    text = decode_text(b"\x87\x9b", CP932)
    assert encode_text(text, "utf-8", "x") == str(text).encode()


def test_fields_keep_what_follows_the_terminator():
    field = decode_field(b"miku\0\xfd\xfd\xfd")
    assert field == "miku"
    assert encode_field(field, 8, "x") == b"miku\0\xfd\xfd\xfd"
    assert encode_field(field, 10, "x") == b"miku\0\0\0\0\0\0"
    assert type(decode_field(b"miku\0\0")) is str
    assert decode_field(b"\0\xfd") == ""


def test_long_names_are_cut_by_bytes():
    name = "スカート_左前_長い"
    assert encode_field(name, 15, "x") == name.encode(CP932)[:15] == name_key(name)
    cut = decode_field(encode_field(name, 10, "x"))
    assert encode_field(cut, 10, "x") == name.encode(CP932)[:10]


def test_letters_that_cp932_lacks():
    with pytest.raises(FormatError, match="x: '龙' cannot be written as cp932"):
        encode_field("骨龙", 15, "x")
    assert name_key("骨龙") is None
    assert name_key("骨龙", encoding="gbk") == "骨龙".encode("gbk")
