"""Problem documents: complete, short, and without foreign text."""

from __future__ import annotations

import json
import re

import pytest

from bot.api.problems import PROBLEMS, ProblemRaised, document, encode, from_chat_error, retry_after
from bot.chat import errors


@pytest.mark.parametrize("code", PROBLEMS)
def test_every_code_makes_a_complete_document(code: str) -> None:
    """E8."""
    problem = json.loads(encode(document(ProblemRaised(code), instance="/x", request_id="ab")))
    assert problem["type"] == f"urn:portfolio-bot:problem:{code}"
    assert problem["status"] == PROBLEMS[code][0]
    assert problem["title"]
    assert problem["request_id"] == "ab"
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)


def test_an_unknown_code_becomes_an_internal_error() -> None:
    assert document(ProblemRaised("new"), instance="/", request_id="").code == "internal-error"


def every_chat_error(
    base: type[errors.ChatError] = errors.ChatError,
) -> list[type[errors.ChatError]]:
    return [base, *(found for kind in base.__subclasses__() for found in every_chat_error(kind))]


TELL_WHEN = (errors.Busy, errors.WaitedTooLong, errors.RateLimited)


@pytest.mark.parametrize("kind", every_chat_error())
def test_every_error_of_the_application_has_a_problem(kind: type[errors.ChatError]) -> None:
    if kind in TELL_WHEN:
        error: errors.ChatError = kind(1.2)
    elif kind is errors.ContextOverflow:
        error = errors.ContextOverflow(4096)
    else:
        error = kind("secret upstream text")
    raised = from_chat_error(error)
    assert raised.code in PROBLEMS
    if kind not in (errors.InvalidQuestion, errors.ReindexFailed):
        assert "secret" not in raised.detail
    if kind in TELL_WHEN:
        assert raised.headers["retry-after"] == "2"


def test_details_stay_short_whatever_the_client_made_up() -> None:
    raised = ProblemRaised("invalid-request", "x" * 10_000)
    problem = document(raised, instance="/" + "y" * 10_000, request_id="")
    assert len(encode(problem)) < 1000


@pytest.mark.parametrize(("seconds", "header"), [(0.0, "1"), (0.2, "1"), (1.0, "1"), (1.01, "2")])
def test_retry_after_is_rounded_up(seconds: float, header: str) -> None:
    """A16: whoever waits as told is let in."""
    assert retry_after(seconds) == header
