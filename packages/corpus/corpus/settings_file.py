"""Read the settings: YAML file, then environment, then checks that name what is wrong."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import yaml

from corpus.errors import SettingsError
from corpus.settings import Settings

DEFAULT_PORTS = {"http": 80, "https": 443}
HOST = re.compile(r"\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9._-]*[a-z0-9])?")
ENVIRONMENT_PREFIX = "PORTFOLIO_BOT__"
DEFAULT_FILE = Path("configs/portfolio-bot.yaml")
UNKNOWN_FIELD = re.compile(r"Object contains unknown field `([^`]*)`(?: - at `\$\.?([^`]*)`)?")
INVALID_VALUE = re.compile(r"^(.+?)(?: - at `(key` in `)?\$\.?([^`]*)`)?$", re.DOTALL)
INVALID_CHOICE = re.compile(r"Invalid enum value (.+)", re.DOTALL)


def load_settings(
    path: Path | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """Settings from `path` (default: configs/portfolio-bot.yaml where it exists) and environment.

    Raises:
        SettingsError: one line with the key's path, its value and what is allowed.
    """
    environment = os.environ if environment is None else environment
    tree = _read_yaml(path)
    for name, text in sorted(environment.items()):
        if name.startswith(ENVIRONMENT_PREFIX):
            _override(tree, name, text)
    try:
        settings = msgspec.convert(tree, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise SettingsError(_explain(str(error), tree)) from error
    _check_providers(settings)
    _check_networks(settings)
    return _normalise_origins(settings)


def _read_yaml(path: Path | None) -> dict[str, Any]:
    if path is None:
        if not DEFAULT_FILE.exists():
            return {}
        path = DEFAULT_FILE
    try:
        tree = yaml.safe_load(path.read_text("utf-8-sig"))
    except FileNotFoundError as error:
        raise SettingsError(f"no configuration file at {path}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} can't be read: {error}") from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where else ""
        raise SettingsError(
            f"{path} is not valid YAML{line}: check indentation and quotes"
        ) from error
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise SettingsError(f"{path} must hold keys and values, not {type(tree).__name__}")
    return tree


def _override(tree: dict[str, Any], name: str, text: str) -> None:
    """Set one value from the environment; the text is read as YAML, so `[a, b]` is a list."""
    keys = name.removeprefix(ENVIRONMENT_PREFIX).lower().split("__")
    node: Any = tree
    for key, following in zip(keys, [*keys[1:], ""], strict=True):
        index: Any = key
        if isinstance(node, list):
            if not key.isdecimal() or int(key) > len(node):
                raise SettingsError(f"{name}: `{key}` is not a position in a list of {len(node)}")
            index = int(key)
            if index == len(node):
                node.append({})
        elif not isinstance(node, dict):
            raise SettingsError(f"{name}: `{key}` is below a plain value")
        if not following:
            try:
                node[index] = yaml.safe_load(text)
            except yaml.YAMLError as error:
                raise SettingsError(f"{name}: {text!r} is not a valid value") from error
            return
        if isinstance(node, dict) and not isinstance(node.get(index), dict | list):
            node[index] = [] if following.isdecimal() else {}
        node = node[index]


def _explain(message: str, tree: dict[str, Any]) -> str:
    if unknown := UNKNOWN_FIELD.match(message):
        field, where = unknown[1], unknown[2] or ""
        allowed = _fields_at(where)
        near = difflib.get_close_matches(field, allowed, 1)
        hint = f"; did you mean `{near[0]}`?" if near else "."
        key = f"{where}.{field}" if where else field or "(empty)"
        return f"{key}: unknown key{hint} Allowed: {', '.join(allowed)}"
    match = INVALID_VALUE.match(message)
    assert match is not None
    path = (match[3] or "").split("[...]")[0]  # msgspec leaves out the key of a dict
    expected, value = match[1], repr(_value_at(tree, path))
    choice = INVALID_CHOICE.fullmatch(expected)
    if match[2]:
        value = f"the key {choice[1]}" if choice else "a key of another type"
    if choice:
        expected = f"one of {', '.join(_choices_at(path, keys=bool(match[2])))}"
    return f"{path or 'configuration'}: {value} is not allowed: {expected}"


def _steps(path: str) -> list[str | int]:
    return [
        int(step) if step.isdecimal() else step
        for step in re.findall(r"[^.\[\]]+", path)
        if step != "..."
    ]


def _value_at(tree: Any, path: str) -> Any:
    for step in _steps(path):
        try:
            tree = tree[step]
        except (KeyError, IndexError, TypeError):
            return None
    return tree


def _type_at(path: str) -> Any:
    """What msgspec knows of the type at `path`."""
    current: Any = msgspec.inspect.type_info(Settings)
    for step in _steps(path):
        if isinstance(current, msgspec.inspect.StructType):
            current = next(item.type for item in current.fields if item.name == step)
        else:
            current = getattr(current, "item_type", current)
    return current


def _fields_at(path: str) -> list[str]:
    """Names a section allows."""
    current = _type_at(path)
    if not isinstance(current, msgspec.inspect.StructType):
        current = getattr(current, "item_type", current)
    return [item.name for item in getattr(current, "fields", ())]


def _choices_at(path: str, *, keys: bool) -> list[str]:
    """Values (or keys) that the choice at `path` allows."""
    current = _type_at(path)
    if keys:
        current = getattr(current, "key_type", current)
    return [str(value) for value in getattr(current, "values", ())]


def _check_providers(settings: Settings) -> None:
    defaults = [provider.name for provider in settings.providers if provider.default]
    if len(defaults) != 1:
        raise SettingsError(
            f"providers: exactly one needs `default: true`, found {len(defaults)}"
            + (f" ({', '.join(defaults)})" if defaults else "")
        )
    for index, provider in enumerate(settings.providers):
        if provider.max_tokens * 2 > provider.context_size:
            raise SettingsError(
                f"providers[{index}].max_tokens: {provider.max_tokens} is not allowed: "
                f"at most half of context_size ({provider.context_size})"
            )
        endpoints = [provider.endpoint, *provider.more_endpoints]
        for position, endpoint in enumerate(provider.more_endpoints):
            if endpoint in endpoints[: position + 1]:
                raise SettingsError(
                    f"providers[{index}].more_endpoints[{position}]: {endpoint!r} is not allowed: "
                    "each server answers one question at a time and is named once"
                )


def _check_networks(settings: Settings) -> None:
    for index, network in enumerate(settings.server.metrics_networks):
        try:
            ip_network(network)
        except ValueError as error:
            raise SettingsError(
                f"server.metrics_networks[{index}]: {network!r} is not allowed: an address or a "
                "network such as 127.0.0.1 or 172.28.77.0/24"
            ) from error


def _normalise_origins(settings: Settings) -> Settings:
    """Bring origins into the form browsers send: scheme and host in lower case, no default port."""
    origins = []
    for index, origin in enumerate(settings.server.cors_origins):
        try:
            origins.append(_normal_origin(origin.strip()))
        except ValueError as error:  # urlsplit's own among them: a port of letters, half an IPv6
            raise SettingsError(
                f"server.cors_origins[{index}]: {origin!r} is not allowed: {error}"
            ) from error
    server = msgspec.structs.replace(settings.server, cors_origins=tuple(dict.fromkeys(origins)))
    return msgspec.structs.replace(settings, server=server)


def _normal_origin(origin: str) -> str:
    parts = urlsplit(origin)
    scheme, host, port = parts.scheme, parts.hostname or "", parts.port
    # Browsers send españa.es as xn--espaa-rta.es
    host = f"[{host}]" if ":" in host else host.encode("idna").decode()
    if scheme not in DEFAULT_PORTS or "@" in parts.netloc or not HOST.fullmatch(host):
        raise ValueError("an origin such as https://example.com (`*` and `null` are refused)")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError("an origin has no path")
    return f"{scheme}://{host}" + (f":{port}" if port and port != DEFAULT_PORTS[scheme] else "")
