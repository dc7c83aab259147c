"""Which states fit a chat server: everything that makes the bytes of a state mean something else.

The file itself says nothing about the model it was made with, and one of another model with the same
shape would be taken without an error and give wrong answers.
"""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import Struct

FORMAT = "portfolio-bot states 2"
PROBE_TEXT = "My favourite thing about the sea is that"
PROBE_RANKS = 5


class ModelMeta(Struct, frozen=True):
    """What `/v1/models` says about the weights."""

    vocab_type: int = 0
    n_vocab: int = 0
    n_ctx_train: int = 0
    n_embd: int = 0
    n_params: int = 0
    size: int = 0


class ServedModel(Struct):
    """One model of `/v1/models`."""

    meta: ModelMeta | None = None


class ServedModels(Struct):
    """Answer of `/v1/models`."""

    data: list[ServedModel]


class Props(Struct, frozen=True):
    """The fields of `/props` that tell servers apart."""

    class Defaults(Struct, frozen=True):
        """Only the window of a slot is read."""

        n_ctx: int

    default_generation_settings: Defaults
    total_slots: int
    model_path: str = ""
    model_ftype: str = ""
    chat_template: str = ""
    bos_token: str = ""
    eos_token: str = ""
    build_info: str = ""
    media_marker: str = ""
    """Random in each process of the server: another one means that it was restarted."""


class Identity(Struct, frozen=True, kw_only=True):
    """A chat server, as far as its states are concerned."""

    props: Props
    meta: ModelMeta
    sha256: str
    """Hash of the model file by the configuration, or empty."""
    probe: tuple[tuple[int, float], ...]
    """The most likely tokens after PROBE_TEXT and their log-probabilities, two digits.

    They tell weights apart that share a name and a size, also while the configuration is newer than
    the running server; another RoPE base or cache type changes them too, the number of threads does
    not (all measured with Qwen2.5-0.5B)."""

    @property
    def fingerprint(self) -> str:
        """32 hex digits; equal only for servers that may use each other's states."""
        props = self.props
        parts: list[Any] = [
            FORMAT,
            self.sha256,
            PurePosixPath(props.model_path).name,
            msgspec.to_builtins(self.meta),
            props.default_generation_settings.n_ctx,
            [props.model_ftype, props.bos_token, props.eos_token, props.build_info],
            props.chat_template,
            self.probe,
        ]
        return short_hash(msgspec.json.encode(parts))


def page_name(fingerprint: str, text: str) -> str:
    """Name of the state of a prefix: `p-` and 32 hex digits."""
    return "p-" + short_hash(f"{fingerprint}\n{text}".encode("utf-8", "surrogatepass"))


def short_hash(content: bytes) -> str:
    """128 bits of SHA-256 as 32 hex digits."""
    return hashlib.sha256(content).hexdigest()[:32]
