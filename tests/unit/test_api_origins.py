"""Which origins may talk to the bot: exact ones only."""

from __future__ import annotations

import pytest

from bot.api.origins import Origins
from corpus.settings_file import load_settings

ALLOWED = "https://blog.example.com"


@pytest.mark.parametrize(
    ("origin", "permitted"),
    [
        (ALLOWED, True),
        ("https://blog.example.com.evil.test", False),
        ("https://evilblog.example.com", False),
        ("https://blogXexample.com", False),
        ("http://blog.example.com", False),
        ("https://blog.example.com:8443", False),
        ("https://BLOG.example.com", False),
        ("https://sub.blog.example.com", False),
        ("https://blog.example.com/", False),
        ("https://blog.example.com@evil.test", False),
        ("null", False),
        ("", False),
        ("*", False),
        ("https://[", False),
        ("https://blog.example.com:x", False),
    ],
)
def test_only_the_exact_origin_passes(origin: str, permitted: bool) -> None:
    """E4: the matrix of look-alikes; `null` (sandboxed frames, files) is refused."""
    origins = Origins([ALLOWED])
    assert origins.permits(origin, scheme="http", host="bot.example.org") is permitted
    shown = dict(origins.headers(origin)).get(b"access-control-allow-origin")
    assert (shown == origin.encode()) is permitted


@pytest.mark.parametrize(
    ("origin", "scheme", "host", "same"),
    [
        ("http://127.0.0.1:7331", "http", "127.0.0.1:7331", True),
        ("https://bot.example.org", "https", "bot.example.org", True),
        ("https://bot.example.org", "https", "bot.example.org:443", True),
        ("http://bot.example.org", "http", "BOT.example.org:80", True),
        ("http://[::1]:7331", "http", "[::1]:7331", True),
        ("http://bot.example.org", "https", "bot.example.org", False),
        ("http://127.0.0.1:7332", "http", "127.0.0.1:7331", False),
        ("http://127.0.0.1", "http", "", False),
        ("null", "http", "null", False),
        ("http://", "http", "", False),
    ],
)
def test_the_bots_own_page_needs_no_entry(origin: str, scheme: str, host: str, same: bool) -> None:
    assert Origins([]).permits(origin, scheme=scheme, host=host) is same


def test_every_reply_varies_by_origin_and_credentials_are_never_allowed() -> None:
    """E4, CORS-02."""
    for origin in (None, ALLOWED, "https://evil.test"):
        names = [name for name, _ in Origins([ALLOWED]).headers(origin)]
        assert b"vary" in names
        assert b"access-control-allow-credentials" not in names


@pytest.mark.parametrize(
    ("origin", "method", "headers", "allowed"),
    [
        (ALLOWED, "POST", "content-type", True),
        (ALLOWED, "POST", "Content-Type", True),
        (ALLOWED, "POST", "", True),
        (ALLOWED, "POST", "content-type, accept", True),
        (ALLOWED, "POST", "content-type, authorization", False),
        (ALLOWED, "POST", "x-odd", False),
        (ALLOWED, "PUT", "content-type", False),
        (ALLOWED, "post", "content-type", False),
        ("https://evil.test", "POST", "content-type", False),
        ("null", "POST", "content-type", False),
    ],
)
def test_preflight_allows_post_with_a_content_type(
    origin: str, method: str, headers: str, allowed: bool
) -> None:
    """E5."""
    answer = Origins([ALLOWED]).preflight(origin, method, headers, {"POST"})
    assert (answer is not None) is allowed
    if answer is not None:
        assert dict(answer)[b"access-control-max-age"] == b"600"


def test_configured_origins_are_brought_into_the_browsers_form() -> None:
    """CORS-02: a trailing slash, capitals or the default port in the configuration still match."""
    written = '["https://A.Example/", "HTTPS://b.example:443"]'
    settings = load_settings(None, {"PORTFOLIO_BOT__SERVER__CORS_ORIGINS": written})
    origins = Origins(settings.server.cors_origins)
    for origin in ("https://a.example", "https://b.example"):
        assert origins.permits(origin, scheme="http", host="x")
