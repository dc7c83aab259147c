"""A GGUF in the real shape of Qwen2.5 3B (Q4_K_M), with random weights: memory without the real ones.

    python -m bench.shaped_weights OUT.gguf [--tokenizer models/files/….gguf]

Memory depends on shapes, quantization and context, not on values; what such a model says is noise, so
this measures nothing but memory. The vocabulary is copied from any Qwen2.5 GGUF. Shape: that of
Qwen/Qwen2.5-3B-Instruct-GGUF; which matrices have 6 bits instead of 4: llama.cpp's recipe of Q4_K_M.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import gguf
import numpy as np
from gguf.constants import GGML_QUANT_SIZES

HIDDEN, LAYERS, HEADS, KEY_HEADS, FEED_FORWARD = 2048, 36, 16, 2, 11008
VOCABULARY = 151_936
CONTEXT_TOKENS = 32_768
FOUR, SIX = gguf.GGMLQuantizationType.Q4_K, gguf.GGMLQuantizationType.Q6_K
# Where the half-precision scales of a block lie, and values so small that no sum overflows.
SCALES = {FOUR: ((0, 1e-3), (2, 1e-3)), SIX: ((208, 1e-5),)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(prog="bench.shaped_weights", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("out", type=Path)
    parser.add_argument("--tokenizer", type=Path, help="a Qwen2.5 GGUF [default: the fetched one]")
    options = parser.parse_args(arguments)
    write(options.out, options.tokenizer or fetched_tokenizer())
    print(f"{options.out}: {options.out.stat().st_size / 1e9:.2f} GB")


def fetched_tokenizer() -> Path:
    """The smallest Qwen2.5 that `make models` has fetched."""
    found = sorted(Path("models/files").glob("qwen2.5*.gguf"), key=lambda path: path.stat().st_size)
    if not found:
        raise SystemExit("no Qwen2.5 in models/files to take the vocabulary of: make models")
    return found[0]


def write(path: Path, tokenizer: Path) -> None:
    """The whole file; a quarter of a minute and 2.1 GB."""
    writer = gguf.GGUFWriter(path, "qwen2")
    try:
        describe(writer)
        copy_vocabulary(writer, tokenizer)
        random = np.random.default_rng(0)
        # Qwen's own file holds the embeddings twice, for reading with 4 bits and for writing with 6.
        add_matrix(writer, random, "token_embd", VOCABULARY, HIDDEN, FOUR)
        add_matrix(writer, random, "output", VOCABULARY, HIDDEN, SIX)
        writer.add_tensor("output_norm.weight", np.ones(HIDDEN, np.float32))
        for layer in range(LAYERS):
            add_layer(writer, random, layer)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def describe(writer: gguf.GGUFWriter) -> None:
    """The shape."""
    writer.add_name("random weights in the shape of Qwen2.5 3B")
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT_TOKENS)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_freq_base(1e6)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)


def copy_vocabulary(writer: gguf.GGUFWriter, tokenizer: Path) -> None:
    """Every field of the tokenizer, chat template included."""
    for key, field in gguf.GGUFReader(tokenizer).fields.items():
        if not key.startswith("tokenizer."):
            continue
        if field.types[0] is gguf.GGUFValueType.ARRAY:
            writer.add_array(key, field.contents())
        else:
            writer.add_key_value(key, field.contents(), field.types[0])


def add_layer(writer: gguf.GGUFWriter, random: np.random.Generator, layer: int) -> None:
    """Attention and feed-forward of one layer."""
    name = f"blk.{layer}"
    keys = KEY_HEADS * HIDDEN // HEADS
    mixed = SIX if has_six_bits(layer) else FOUR
    for norm in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"{name}.{norm}.weight", np.ones(HIDDEN, np.float32))
    for part, rows, kind in (
        ("attn_q", HIDDEN, FOUR),
        ("attn_k", keys, FOUR),
        ("attn_v", keys, mixed),
    ):
        add_matrix(writer, random, f"{name}.{part}", rows, HIDDEN, kind)
        writer.add_tensor(f"{name}.{part}.bias", np.zeros(rows, np.float32))
    add_matrix(writer, random, f"{name}.attn_output", HIDDEN, HIDDEN, FOUR)
    add_matrix(writer, random, f"{name}.ffn_gate", FEED_FORWARD, HIDDEN, FOUR)
    add_matrix(writer, random, f"{name}.ffn_up", FEED_FORWARD, HIDDEN, FOUR)
    add_matrix(writer, random, f"{name}.ffn_down", HIDDEN, FEED_FORWARD, mixed)


def has_six_bits(layer: int) -> bool:
    """The first and last eighth of the layers, and every third between them."""
    first = LAYERS // 8
    return layer < first or layer >= 7 * LAYERS // 8 or (layer - first) % 3 == 2


def add_matrix(
    writer: gguf.GGUFWriter,
    random: np.random.Generator,
    name: str,
    rows: int,
    columns: int,
    kind: gguf.GGMLQuantizationType,
) -> None:
    """Random blocks with small scales."""
    values, size = GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (rows * columns // values, size), dtype=np.uint8)
    for place, scale in SCALES[kind]:
        blocks[:, place : place + 2] = np.frombuffer(np.float16(scale).tobytes(), np.uint8)
    writer.add_tensor(f"{name}.weight", blocks.reshape(rows, -1), raw_dtype=kind)


if __name__ == "__main__":
    main()
