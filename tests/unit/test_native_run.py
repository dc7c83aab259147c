"""What `make demo` starts, and with which settings; the processes themselves are in integration."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.settings_file import load_settings
from models.errors import ManifestError
from models.installed import Installed, Record, save_installed
from models.manifest import Licence, load_manifest
from native import servers
from native.chosen import ChosenModels, chosen_models
from native.console import Console, readable, severity
from native.preflight import ROOT

PROFILES = sorted(load_manifest().profiles)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which the models of every profile seem to be."""
    manifest, installed = load_manifest(), Installed()
    for profile_name, profile in manifest.profiles.items():
        for role in ("chat", "embed"):
            model = profile.model_name(role)
            path = tmp_path / f"{model}.gguf"
            path.write_bytes(b"GGUF")
            record = Record(
                model=model,
                file=path.name,
                size_bytes=4,
                sha256=model.ljust(64, "0"),
                mtime_ns=path.stat().st_mtime_ns,
                licence=Licence(spdx="MIT"),
                source="test",
                origin="test",
            )
            installed = installed.with_record(profile_name, role, record)
    save_installed(tmp_path, installed)
    return tmp_path


def value_of(flag: str, command: tuple[str, ...]) -> str:
    """The argument behind a flag."""
    return command[command.index(flag) + 1]


def both(models: ChosenModels) -> list[tuple[str, ...]]:
    """The two command lines."""
    binary = Path("llama-server")
    return [
        servers.chat_command(binary, models.chat_path, port=7332, context_tokens=4096),
        servers.embed_command(
            binary, models.embed_path, port=7333, context_tokens=512, pooling="mean"
        ),
    ]


def test_the_model_servers_are_closed_to_everyone_else(folder: Path) -> None:
    for command in both(chosen_models("default", folder)):
        assert value_of("--host", command) == "127.0.0.1"
        assert value_of("--cors-origins", command) == ""
        assert {"--no-webui", "--no-slots", "--no-cors-credentials", "--offline"} <= set(command)
        assert value_of("--cache-ram", command) == "0"
        assert value_of("--parallel", command) == "1"
        assert 1 <= int(value_of("-t", command)) <= 8


def test_a_visitor_who_leaves_frees_the_model_soon(folder: Path) -> None:
    chat, embed = both(chosen_models("default", folder))
    assert (value_of("-b", chat), value_of("-ub", chat)) == ("64", "64")
    assert value_of("-fa", chat) == "off"
    assert int(value_of("-ub", embed)) >= int(value_of("-c", embed))


@pytest.mark.parametrize("profile", PROFILES)
def test_the_settings_of_a_profile_are_valid_and_exact(folder: Path, profile: str) -> None:
    models = chosen_models(profile, folder)
    settings = load_settings(None, models.settings(port=8000, chat_port=8001, embed_port=8002))
    assert settings.server.port == 8000
    assert settings.provider.endpoint == "http://127.0.0.1:8001"
    assert settings.provider.model == models.chat.model
    assert settings.provider.context_size == models.chat_traits.context_size_tokens
    assert settings.provider.sha256 == models.chat.sha256
    assert settings.provider.states_path == ""
    assert settings.embeddings.endpoint == "http://127.0.0.1:8002"
    assert settings.embeddings.sha256 == models.embed.sha256
    assert settings.embeddings.query_prefix == models.embed_traits.query_prefix
    assert settings.embeddings.passage_prefix == models.embed_traits.passage_prefix
    assert settings.embeddings.dimension == models.embed_traits.dimensions


def test_bot_and_chat_server_share_the_folder_of_the_prompt_states(folder: Path) -> None:
    models, states = chosen_models("default", folder), folder / "my states: 1"
    command = servers.chat_command(
        Path("llama-server"), models.chat_path, port=1, context_tokens=4096, states=states
    )
    assert value_of("--slot-save-path", command) == f"{states}/"
    assert "--no-slots" in command  # what visitors asked can still not be read there
    variables = models.settings(port=8000, chat_port=8001, embed_port=8002, states=states)
    assert load_settings(None, variables).provider.states_path == str(states)
    without = servers.chat_command(
        Path("llama-server"), models.chat_path, port=1, context_tokens=4096
    )
    assert "--slot-save-path" not in without


def test_a_file_that_changed_since_it_was_fetched_is_not_served(folder: Path) -> None:
    path = chosen_models("tiny", folder).chat_path
    path.write_bytes(b"GGUF and more")
    with pytest.raises(ManifestError, match="make models PROFILE=tiny"):
        chosen_models("tiny", folder)


def test_a_profile_that_is_not_there_is_named() -> None:
    with pytest.raises(ManifestError, match="no profile 'huge'"):
        chosen_models("huge", Path())


def test_a_program_run_with_models_gets_their_settings(folder: Path) -> None:
    script = "import os, json; print(json.dumps(dict(os.environ)))"
    done = subprocess.run(
        [sys.executable, "-m", "native.with_models", "--profile", "tiny", "--dir", str(folder),
         "--port", "8000", "--", sys.executable, "-c", script],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    environment = json.loads(done.stdout)
    assert environment["PORTFOLIO_BOT__SERVER__PORT"] == "8000"
    assert environment["PORTFOLIO_BOT__PROVIDERS__0__MODEL"] == "qwen2.5-0.5b-instruct"


def test_a_taken_port_ends_the_demo_with_one_line_and_the_cure(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "native.demo", "--profile", "tiny", "--dir", str(folder),
             "--port", str(port)],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert f"port {port} is taken by " in line
    assert "make demo PORT=" in line
    assert "Traceback" not in done.stderr


def test_lines_are_plain_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    Console(width=5).line("bot", readable("\x1b[31mred\x1b[0m alarm  "))
    assert capsys.readouterr().out == "bot   │ red alarm\n"


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("0.00.005.509 I srv  llama_server: initializing ...", "I"),
        ("1.00.119.863 W srv          stop: cancel task, id_task = 209", "W"),
        ("12.00.119.863 E srv  failed", "E"),
        ("error: invalid argument: --no-such-flag", "E"),
        ("a line without a level", "I"),
    ],
)
def test_the_level_of_a_llama_server_line(line: str, level: str) -> None:
    assert severity(line) == level


def test_every_profile_has_its_needs_listed() -> None:
    from native.preflight import MEMORY_BYTES, MODEL_BYTES

    assert sorted(MEMORY_BYTES) == sorted(MODEL_BYTES) == PROFILES
