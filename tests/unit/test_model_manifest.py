"""The manifest says what is wrong with it, and the shipped one is whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from models.errors import ManifestError
from models.manifest import DEFAULT_MANIFEST, E5WheelsSource, HubSource, load_manifest

SHA = "a" * 64


def small() -> dict[str, Any]:
    """A manifest with one chat and one embedding model, as plain YAML values."""
    hub = {
        "kind": "hub",
        "repo": "own/er",
        "revision": "main",
        "file": "chat.gguf",
        "sha256": SHA,
        "size_bytes": 10,
        "licence": {"spdx": "MIT"},
    }
    return {
        "version": 1,
        "profiles": {"only": {"chat": "talker", "embed": "reader"}},
        "models": {
            "talker": {
                "licence": {"spdx": "MIT"},
                "chat": {"context_size_tokens": 4096},
                "sources": [hub],
            },
            "reader": {
                "licence": {"spdx": "MIT"},
                "embed": {
                    "dimensions": 3,
                    "context_size_tokens": 512,
                    "query_prefix": "query: ",
                    "passage_prefix": "passage: ",
                    "pooling": "mean",
                },
                "sources": [{**hub, "file": "embed.gguf"}],
            },
        },
    }


def refused(tmp_path: Path, manifest: object) -> str:
    path = tmp_path / "manifest.yaml"
    path.write_text(manifest if isinstance(manifest, str) else yaml.safe_dump(manifest))
    with pytest.raises(ManifestError) as caught:
        load_manifest(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_the_shipped_manifest_is_whole() -> None:
    manifest = load_manifest()
    assert list(manifest.profiles) == ["default", "tiny", "nomic", "3b"]
    embedder = manifest.models["multilingual-e5-small"]
    assert embedder.embed is not None
    assert (embedder.embed.dimensions, embedder.embed.query_prefix) == (384, "query: ")
    assert [type(source) for source in embedder.sources] == [HubSource, E5WheelsSource]


def test_default_and_tiny_may_be_used_commercially_and_3b_says_it_may_not() -> None:
    manifest = load_manifest()
    for name in ("default", "tiny"):
        profile = manifest.profile(name)
        for model in (profile.chat, profile.embed):
            assert manifest.models[model].licence.commercial_use
    research = manifest.models[manifest.profile("3b").chat]
    assert not research.licence.commercial_use
    assert not any(source.licence.commercial_use for source in research.sources)


def test_every_source_has_its_own_licence_and_only_the_hub_may_lack_a_checksum() -> None:
    for model in load_manifest().models.values():
        for source in model.sources:
            assert source.licence.spdx
            assert source.sha256 is not None or isinstance(source, HubSource)
            assert (source.sha256 is None) == (source.size_bytes is None)


def test_a_small_manifest_loads(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(yaml.safe_dump(small()))
    assert load_manifest(path).profile("only").model_name("embed") == "reader"


def test_an_unknown_profile_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ManifestError, match="default, tiny, nomic, 3b"):
        load_manifest().profile("huge")


def test_a_misspelt_key_is_named(tmp_path: Path) -> None:
    manifest = small()
    manifest["models"]["talker"]["license"] = {"spdx": "MIT"}
    assert "license" in refused(tmp_path, manifest)


@pytest.mark.parametrize("file", ["../x.gguf", "/etc/x.gguf", "x.bin", ".gguf", "a\n.gguf"])
def test_a_file_name_can_only_be_a_plain_gguf_name(tmp_path: Path, file: str) -> None:
    manifest = small()
    manifest["models"]["talker"]["sources"][0]["file"] = file
    assert "file" in refused(tmp_path, manifest)


@pytest.mark.parametrize("sha256", ["a" * 63, "A" * 64, "a" * 64 + "\n", 7])
def test_a_checksum_has_64_small_hex_digits(tmp_path: Path, sha256: object) -> None:
    manifest = small()
    manifest["models"]["talker"]["sources"][0]["sha256"] = sha256
    assert "sha256" in refused(tmp_path, manifest)


def test_wheels_must_have_a_checksum(tmp_path: Path) -> None:
    manifest = small()
    manifest["models"]["talker"]["sources"] = [
        {
            "kind": "wheels",
            "wheels": ["a==1"],
            "member": "*.bin",
            "file": "w.gguf",
            "sha256": None,
            "size_bytes": 1,
            "licence": {"spdx": "MIT"},
        }
    ]
    assert "sha256" in refused(tmp_path, manifest)


def test_an_unknown_kind_of_source_is_named(tmp_path: Path) -> None:
    manifest = small()
    manifest["models"]["talker"]["sources"][0]["kind"] = "torrent"
    assert "torrent" in refused(tmp_path, manifest)


def test_a_profile_that_names_no_model_is_refused(tmp_path: Path) -> None:
    manifest = small()
    manifest["profiles"]["only"]["chat"] = "nobody"
    assert "'nobody'" in refused(tmp_path, manifest)


def test_an_embedder_can_not_chat(tmp_path: Path) -> None:
    manifest = small()
    manifest["profiles"]["only"]["chat"] = "reader"
    assert "no chat: section" in refused(tmp_path, manifest)


def test_one_name_for_two_contents_is_refused(tmp_path: Path) -> None:
    manifest = small()
    manifest["models"]["reader"]["sources"][0].update(file="chat.gguf", sha256="b" * 64)
    assert "two contents" in refused(tmp_path, manifest)


@pytest.mark.parametrize("text", ["", "[1, 2", "version: 2\nprofiles: {}\nmodels: {}", "just text"])
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str) -> None:
    refused(tmp_path, text)


def test_a_missing_manifest_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="can't read the manifest"):
        load_manifest(tmp_path / "none.yaml")


def test_no_registry_or_machine_path_is_in_the_manifest() -> None:
    text = DEFAULT_MANIFEST.read_text(encoding="utf-8")
    assert "http" not in text.replace("huggingface", "")
    assert "/home/" not in text
    assert "/root/" not in text
