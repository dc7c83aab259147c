"""The stack of compose.yaml for a measurement: a project, volumes and a port of its own, removed at the end.

Sizes are those of the profile's block in .env.example. Models are what `make models` fetched; for `3b`,
whose licence keeps it out of most places, random weights of its shape (bench.shaped_weights).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.shaped_weights import fetched_tokenizer, write
from models.errors import ModelsError
from models.installed import load_installed
from native.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
FETCHED = ROOT / "models/files"
PROJECT = "portfolio-bot-footprint"
# Memory does not depend on speed; a slow or busy machine must not end answers by their deadlines.
PATIENCE = {"FIRST_TOKEN_SECONDS": "3000", "TOTAL_SECONDS": "3600"}


def sizes(profile: str) -> dict[str, str]:
    """Variables of the profile's block in .env.example."""
    current, found = "", {}
    for line in (ROOT / ".env.example").read_text("utf-8").splitlines():
        if match := re.fullmatch(r"#(PROFILE|CHAT_MEMORY|EMBED_MEMORY)=(\S+)", line):
            current = match[2] if match[1] == "PROFILE" else current
            if current == profile:
                found[match[1]] = match[2]
    if not found:
        raise SystemExit(f"no block for {profile} in .env.example")
    return found


def model_files(profile: str, folder: Path) -> dict[str, Path]:
    """Files by the names that the containers' command lines have."""
    installed = load_installed(FETCHED)
    found = {}
    for role in ("chat", "embed"):
        # Every profile but `nomic` embeds with the same model.
        record = installed.record(profile, role) or (
            installed.record("tiny", role) if role == "embed" else None
        )
        if record is not None:
            found[f"{role}-{profile}.gguf"] = FETCHED / record.file
        elif profile == "3b":
            found[f"chat-{profile}.gguf"] = folder / "shaped-3b.gguf"
            write(folder / "shaped-3b.gguf", fetched_tokenizer())
        else:
            raise ModelsError(f"no {role} model of {profile}: make models PROFILE={profile}")
    return found


@contextmanager
def own_stack(profile: str) -> Iterator[str]:
    """Started and healthy; yields its address. Its Compose variables are in the environment meanwhile."""
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = model_files(profile, folder)
        override = folder / "compose.override.json"
        provider = {f"PORTFOLIO_BOT__PROVIDERS__0__{key}": value for key, value in PATIENCE.items()}
        # Every question must reach the model, the suggested ones too.
        bot = {**provider, "PORTFOLIO_BOT__KNOWN_ANSWERS__ENABLED": "false"}
        services = {"models": {"command": ["true"]}, "bot": {"environment": bot}}
        override.write_text(json.dumps({"services": services}))
        variables = {
            **sizes(profile),
            "COMPOSE_PROJECT_NAME": PROJECT,
            "COMPOSE_FILE": f"{ROOT / 'compose.yaml'}:{override}",
            "PUBLISH": f"127.0.0.1:{port}",
            "SITE_ADDRESS": "",
            "ENTERING_PREFIX": "172.28.79",
        }
        before = {key: os.environ.get(key) for key in variables}
        os.environ.update(variables)
        try:
            compose("down", "--volumes", "--remove-orphans")
            for target, path in files.items():
                # As the job `models` would: owned by its user, pages of the file counted for it.
                compose("run", "--rm", "--no-deps", "-T", "--user", "0", "--cap-add", "DAC_OVERRIDE",
                        "--cap-add", "CHOWN", "--volume", f"{path}:/from.gguf:ro", "models", "sh", "-c",
                        f"cp /from.gguf /models/{target} && chown -R 10001:10001 /models")  # fmt: skip
            compose("up", "--detach", "--wait")
            yield f"http://127.0.0.1:{port}"
        finally:
            compose("down", "--volumes", "--timeout", "5")
            for key, value in before.items():
                if value is None:
                    os.environ.pop(key)
                else:
                    os.environ[key] = value


def compose(*arguments: str) -> None:
    """`docker compose …` with what it says on this terminal."""
    subprocess.run(["docker", "compose", *arguments], check=True, cwd=ROOT, stdout=2)
