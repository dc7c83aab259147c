"""The body of POST /api/feedback: a vote or a 400, whatever a client sends."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.api.feedback import DECODER, MAX_BODY_BYTES, MAX_COMMENT_CHARS, VoteRequest, to_vote
from bot.api.metrics import is_within
from bot.api.problems import PROBLEMS, ProblemRaised
from bot.api.requests import decode
from bot.chat.ports.feedback import Rating, Reason, Vote
from tests.widget.stage import SITE

ID = "Zz09_-" * 5
GATEWAY_BYTES = 4000  # `max_size 4KB` in services/gateway/Caddyfile


def body(**fields: Any) -> bytes:
    return json.dumps({"answer_id": ID, "rating": "down", **fields}).encode()


def refused(data: bytes) -> str:
    with pytest.raises(ProblemRaised) as caught:
        decode(DECODER, data)
    assert caught.value.code == "invalid-request"
    return caught.value.detail


@pytest.mark.parametrize(
    "data",
    [
        b"", b"null", b"[]", b"{", b"\xef\xbb\xbf" + body(), body() + b"x", b"[" * 4096,
        b'{"answer_id":"' + ID.encode() + b'","rating":"up","rating":"down"}',
        body(answer_id="A" * 21), body(answer_id="A" * 44), body(answer_id="A" * 22 + "\n"),
        body(answer_id={"$ne": None}), body(rating=["up"]), body(rating="UP"), body(reason=""),
        body(comment=5), body(temperature=1),
    ],
)  # fmt: skip
def test_what_is_no_vote_is_refused(data: bytes) -> None:
    """B4, B5."""
    assert refused(data)


@pytest.mark.parametrize("reason", [None, *get_args(Reason)])
def test_every_reason_of_the_widget_is_a_vote(reason: Reason | None) -> None:
    wanted = decode(DECODER, body(reason=reason))
    assert to_vote(wanted, free_text=False) == Vote(rating="down", reason=reason)


def test_the_widget_knows_the_same_reasons() -> None:
    script = (SITE / "chat-widget.js").read_text("utf-8")
    assert f"const REASONS = {json.dumps(get_args(Reason))};" in script


def test_the_longest_comment_fits_the_largest_body() -> None:
    """Every character an emoji, written as ASCII."""
    data = body(comment="😀" * MAX_COMMENT_CHARS, reason="outdated", conversation_id="A" * 43)
    assert len(data) <= GATEWAY_BYTES < MAX_BODY_BYTES
    assert len(decode(DECODER, data).comment or "") == MAX_COMMENT_CHARS
    assert refused(body(comment="a" * (MAX_COMMENT_CHARS + 1)))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None)  # a busy machine is no failure
@given(
    st.binary(max_size=200)
    | JSON_VALUES.map(lambda value: json.dumps(value).encode())
    | st.fixed_dictionaries(
        {"answer_id": st.just(ID) | JSON_VALUES, "rating": st.sampled_from(["up", "down"])},
        optional={
            "reason": st.sampled_from(get_args(Reason)) | JSON_VALUES,
            "comment": st.text(max_size=310) | JSON_VALUES,
            "conversation_id": JSON_VALUES,
        },
    ).map(lambda value: json.dumps(value).encode()),
    st.booleans(),
)
def test_any_body_is_a_vote_or_a_problem(data: bytes, free_text: bool) -> None:
    """B1."""
    try:
        wanted = decode(DECODER, data)
        vote = to_vote(wanted, free_text=free_text)
    except ProblemRaised as raised:
        problem = raised
    else:
        assert isinstance(wanted, VoteRequest)
        assert vote.rating in get_args(Rating)
        assert vote.reason is None or vote.rating == "down"
        assert len(vote.comment) <= MAX_COMMENT_CHARS
        assert "\x00" not in vote.comment
        assert free_text or not vote.comment
        return
    assert PROBLEMS[problem.code][0] == 400


@pytest.mark.parametrize(
    ("address", "networks", "within"),
    [
        ("127.0.0.1", (), False),
        ("127.0.0.1", ("127.0.0.1",), True),
        ("::ffff:127.0.0.1", ("127.0.0.1",), True),
        ("172.28.77.9", ("127.0.0.1", "172.28.77.0/24"), True),
        ("172.28.78.9", ("127.0.0.1", "172.28.77.0/24"), False),
        ("2001:db8::1", ("2001:db8::/32",), True),
        ("2001:db8::1", ("0.0.0.0/0",), False),
        ("", ("0.0.0.0/0",), False),
        ("garbage", ("0.0.0.0/0",), False),
    ],
)
def test_who_may_read_the_metrics(address: str, networks: tuple[str, ...], within: bool) -> None:
    assert is_within(address, networks) is within
