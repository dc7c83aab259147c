"""The fetched models of a profile, and the settings that make bot and indexer use them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from models.errors import ManifestError
from models.installed import Record, load_installed, untouched
from models.manifest import ChatTraits, EmbedTraits, load_manifest


@dataclass(frozen=True, kw_only=True)
class ChosenModels:
    """Which files serve a profile, and how."""

    folder: Path
    chat: Record
    chat_traits: ChatTraits
    embed: Record
    embed_traits: EmbedTraits

    @property
    def chat_path(self) -> Path:
        """The language model."""
        return self.folder / self.chat.file

    @property
    def embed_path(self) -> Path:
        """The embedding model."""
        return self.folder / self.embed.file

    def settings(
        self, *, port: int, chat_port: int, embed_port: int, states: Path | None = None
    ) -> dict[str, str]:
        """Environment variables that override the configuration file for this run.

        `states` is the folder of the prompt states, where the chat server was started with one; answers
        to suggested questions lie beside them.
        """
        chat, embed = "PORTFOLIO_BOT__PROVIDERS__0__", "PORTFOLIO_BOT__EMBEDDINGS__"
        traits = self.embed_traits
        saving = {}
        if states is not None:
            saving = {
                f"{chat}STATES_PATH": json.dumps(str(states)),
                "PORTFOLIO_BOT__KNOWN_ANSWERS__PATH": json.dumps(str(states)),
            }
        return {
            **saving,
            "PORTFOLIO_BOT__SERVER__PORT": str(port),
            f"{chat}ENDPOINT": f"http://127.0.0.1:{chat_port}",
            f"{chat}MODEL": self.chat.model,
            # Quoted, since the value is read as YAML and digits alone would be a number.
            f"{chat}SHA256": json.dumps(self.chat.sha256),
            f"{chat}CONTEXT_SIZE": str(self.chat_traits.context_size_tokens),
            f"{embed}ENDPOINT": f"http://127.0.0.1:{embed_port}",
            f"{embed}MODEL": self.embed.model,
            f"{embed}SHA256": json.dumps(self.embed.sha256),
            f"{embed}DIMENSION": str(traits.dimensions),
            f"{embed}WINDOW_TOKENS": str(traits.context_size_tokens),
            # Quoted, since the value is read as YAML and the prefix ends with a space.
            f"{embed}QUERY_PREFIX": f'"{traits.query_prefix}"',
            f"{embed}PASSAGE_PREFIX": f'"{traits.passage_prefix}"',
            f"{embed}POOLING": traits.pooling,
        }


def chosen_models(profile_name: str, folder: Path) -> ChosenModels:
    """The models of a profile in `folder`.

    Raises:
        ManifestError: no such profile, or one of its files is not there as it was fetched.
    """
    manifest = load_manifest()
    profile = manifest.profile(profile_name)
    installed = load_installed(folder)
    chat, embed = installed.record(profile_name, "chat"), installed.record(profile_name, "embed")
    if not (chat and embed and untouched(chat, folder) and untouched(embed, folder)):
        raise ManifestError(
            f"the models of profile {profile_name} are not in {folder}: make models "
            f"PROFILE={profile_name}"
        )
    chat_traits = manifest.models[profile.chat].chat
    embed_traits = manifest.models[profile.embed].embed
    if chat_traits is None or embed_traits is None:
        raise ManifestError(f"the manifest says too little about the models of {profile_name}")
    return ChosenModels(
        folder=folder, chat=chat, chat_traits=chat_traits, embed=embed, embed_traits=embed_traits
    )
