"""Slot 0 of a fake llama-server: what it holds, saves and restores, as build 11434 does it.

Tokens are words. A state file holds them and some bytes for each; a truncated one ends the server (the
real one dies of it, measured), one of another model is taken without an error, as by the real one.

    slot = FakeSlot(tmp_path)
    with FakeLlama(slot=slot) as fake:
        ...
        assert slot.foreign_restores == 0
"""

from __future__ import annotations

import json
import secrets
import threading
from pathlib import Path
from typing import Any, Literal

MAGIC, END = b"ggsq", b"qsgg"
INVALID = "Unable to restore slot: No available space in KV cache or invalid slot save file"
UNSUPPORTED = "This server does not support slots action. Start it with `--slot-save-path`"


class ServerDied(Exception):
    """The process is gone in the middle of a request, and a new one stands in its place."""


class FakeSlot:
    """What lies in the slot, and the folder of `--slot-save-path`."""

    def __init__(self, folder: Path | None, *, model: str = "fake-model", slots: int = 1) -> None:
        self.folder = folder
        self.model = model
        self.slots = slots
        self.window = 4096
        self.bytes_a_token = 1000
        self.words: list[str] = []
        self._numbers: dict[str, int] = {}
        self.weights = [sum(model.encode()) + rank for rank in range(5)]
        """The most likely tokens: what a model of the same name and size differs in."""
        self.confidence = -1.0
        """Log-probability of each: changes with the weights, the RoPE base, the type of the cache."""
        self.marker = new_marker()
        self.actions: list[str] = []
        """`save`, `restore` and `erase`, in order."""
        self.foreign_restores = 0
        """States of another model that were put into the slot: wrong answers."""
        self.deaths = 0
        """How often it died of a file nobody had told it to die of."""
        self.disk_full = False
        self.die_in: Literal["save", "restore"] | None = None
        """Die in the next such action; a save leaves half of the file."""
        self.reuses = True
        """False: a model that evaluates everything again, such as one with a sliding window."""
        self.hold: threading.Event | None = None
        """Where set, actions wait for it, as while the slot works."""

    def restart(self, model: str | None = None) -> None:
        """A new process, perhaps with another model of the same shape."""
        if model is not None:
            self.model = model
            self.weights = [sum(model.encode()) + rank for rank in range(5)]
        self.marker = new_marker()
        self.words = []

    def props(self) -> dict[str, Any]:
        """Answer of `/props`."""
        return {
            "default_generation_settings": {"n_ctx": self.window},
            "total_slots": self.slots,
            "model_path": "/models/chat.gguf",
            "model_ftype": "Q4_K - Medium",
            "chat_template": "<role>content<end>",
            "bos_token": "<bos>",
            "eos_token": "<end>",
            "build_info": "b11434-fake",
            "media_marker": self.marker,
        }

    def models(self) -> dict[str, Any]:
        """Answer of `/v1/models`: all models of this fake have one shape."""
        meta = {"vocab_type": 2, "n_vocab": 1000, "n_ctx_train": 4096, "n_params": 9, "size": 9}
        return {"object": "list", "data": [{"id": "chat", "object": "model", "meta": meta}]}

    def completion(self) -> dict[str, Any]:
        """Answer of `/completion` with `n_probs`; it takes the slot."""
        self.words = ["<probe>"]
        ranks = [{"id": token, "token": "x", "logprob": self.confidence} for token in self.weights]
        return {"content": "x", "completion_probabilities": [{"id": 1, "top_logprobs": ranks}]}

    def templated(self, request: dict[str, Any]) -> str:
        """The prompt of a chat request."""
        words: list[str] = []
        for message in request["messages"]:
            words += [f"<{message['role']}>", *message["content"].split(), "<end>"]
        if request.get("add_generation_prompt", True):
            words.append("<assistant>")
        return " ".join(words)

    def tokens(self, text: str) -> list[int]:
        """A number for each word."""
        return [self._numbers.setdefault(word, len(self._numbers)) for word in text.split()]

    def take(self, tokens: list[int]) -> tuple[int, int]:
        """Take in a prompt of such numbers; (tokens found in the slot, tokens in all)."""
        words = list(self._numbers)
        return self._evaluate([words[token] for token in tokens])

    def evaluate(self, request: dict[str, Any]) -> tuple[int, int]:
        """Take in a chat request; (tokens found in the slot, tokens in all)."""
        return self._evaluate(self.templated(request).split())

    def _evaluate(self, words: list[str]) -> tuple[int, int]:
        cached = 0
        for held, wanted in zip(self.words, words, strict=False):
            if held != wanted:
                break
            cached += 1
        self.words = words
        # At least one token is always evaluated.
        return min(cached, len(words) - 1) if self.reuses else 0, len(words)

    def act(self, action: str, filename: str) -> tuple[int, dict[str, Any]]:
        """Status and body of `POST /slots/0?action=…`; raises ServerDied."""
        if self.folder is None:
            return 501, _error(501, UNSUPPORTED, "not_supported_error")
        if action == "erase":
            self.actions.append(action)
            count, self.words = len(self.words), []
            return 200, {"id_slot": 0, "n_erased": count}
        if action not in ("save", "restore"):
            return 400, _error(400, "Invalid action", "invalid_request_error")
        if not filename or "/" in filename or ".." in filename:
            return 400, _error(400, "Invalid filename", "invalid_request_error")
        self.actions.append(action)
        path = self.folder / filename
        return self._save(path) if action == "save" else self._restore(path)

    def _save(self, path: Path) -> tuple[int, dict[str, Any]]:
        head = json.dumps({"model": self.model, "words": self.words}).encode()
        content = MAGIC + head + b"\n" + b"\x00" * self.bytes_a_token * len(self.words) + END
        whole = not self.disk_full and self.die_in != "save"
        try:
            path.write_bytes(content if whole else content[: len(content) // 2])
        except OSError:
            return 500, _error(500, "Unable to save slot", "server_error")
        if self.disk_full:
            return 500, _error(500, "Unable to save slot", "server_error")
        self._perhaps_die("save")
        return 200, {
            "id_slot": 0, "filename": path.name, "n_saved": len(self.words),
            "n_written": len(content), "timings": {"save_ms": 1.0},
        }  # fmt: skip

    def _restore(self, path: Path) -> tuple[int, dict[str, Any]]:
        self.words = []
        self._perhaps_die("restore")
        try:
            content = path.read_bytes()
        except OSError:
            content = b""
        if not content.startswith(MAGIC):
            return 400, _error(400, INVALID, "invalid_request_error")
        if not content.endswith(END):
            self.deaths += 1
            self._die()
        head = json.loads(content[len(MAGIC) :].partition(b"\n")[0])
        if head["model"] != self.model:
            self.foreign_restores += 1
        self.words = head["words"]
        return 200, {
            "id_slot": 0, "filename": path.name, "n_restored": len(self.words),
            "n_read": len(content), "timings": {"restore_ms": 1.0},
        }  # fmt: skip

    def _perhaps_die(self, action: str) -> None:
        if self.die_in == action:
            self.die_in = None
            self._die()

    def _die(self) -> None:
        self.restart()
        raise ServerDied


def new_marker() -> str:
    """Random in each process."""
    return f"<__media_{secrets.token_hex(8)}__>"


def _error(code: int, message: str, kind: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "type": kind}}
