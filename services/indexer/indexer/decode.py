"""Bytes of a source file to text, whatever editor wrote it; binary files are told apart."""

from __future__ import annotations

import codecs

import msgspec

from corpus.text import clean

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins with the UTF-16 one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
MAGIC_NUMBERS = (
    b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF-", b"PK\x03\x04", b"\x1f\x8b", b"RIFF", b"\x7fELF",
    b"BZh", b"7z\xbc\xaf", b"Rar!", b"SQLite format 3",
)  # fmt: skip
MAX_CONTROL_SHARE = 0.05  # text has none besides tab and line ends; a share above is data


class BinaryContent(Exception):
    """The bytes are no text; the message says what gave them away."""


class DecodedText(msgspec.Struct, frozen=True, kw_only=True):
    """Text with `\\n` line ends, without byte-order mark, hidden or control characters."""

    text: str
    warning: str | None = None


def decode_source(data: bytes) -> DecodedText:
    """Text of a file: UTF-8, then what its byte-order mark says, then Windows-1252.

    Raises:
        BinaryContent: an image, an archive, or text nobody can tell apart from one.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            try:
                return _normalised(data.decode(encoding), f"read as {encoding.upper()}")
            except UnicodeDecodeError as error:
                raise BinaryContent(f"starts like {encoding.upper()} but isn't") from error
    if data.startswith(MAGIC_NUMBERS):
        raise BinaryContent("is an image, archive or other binary file")
    if b"\x00" in data:
        raise BinaryContent("holds NUL bytes: if it is text, save it as UTF-8")
    try:
        return _normalised(data.decode("utf-8-sig"), None)
    except UnicodeDecodeError:
        text = _mixed(data.removeprefix(codecs.BOM_UTF8))
    control = sum(char < " " and char not in "\t\n\r\f" for char in text)
    if control > MAX_CONTROL_SHARE * len(text):
        raise BinaryContent("holds mostly control characters")
    return _normalised(text, "not UTF-8, read as Windows-1252: save it as UTF-8")


def _mixed(data: bytes) -> str:
    """UTF-8 where it is valid, Windows-1252 byte by byte elsewhere.

    Decoding the whole file as Windows-1252 would turn every good «ñ» of a file with one bad byte
    into «Ã±».
    """
    view, parts, position = memoryview(data), [], 0
    while position < len(data):
        try:
            parts.append(str(view[position:], "utf-8"))
            break
        except UnicodeDecodeError as error:
            good, bad = position + error.start, position + error.end
            parts.append(str(view[position:good], "utf-8"))
            parts.append(str(view[good:bad], "cp1252", "replace"))
            position = bad
    return "".join(parts)


def _normalised(text: str, warning: str | None) -> DecodedText:
    return DecodedText(text=clean(text.removeprefix("\ufeff")), warning=warning)
