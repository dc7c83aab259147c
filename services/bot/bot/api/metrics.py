"""What the bot counts of itself, and `GET /metrics` for the owner's Prometheus.

The route is there only for the networks of `server.metrics_networks`, and never through a proxy.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, get_args

from litestar import Request, Response, get
from litestar.di import NamedDependency

from bot.api.direct import came_through_proxy
from bot.api.exposition import CONTENT_TYPE, Histogram, Metric, render
from bot.api.problems import ProblemRaised
from bot.chat.errors import ChatError
from bot.chat.events import Done, Event, Failed, Queued, Route
from bot.chat.feedback import Outcome
from bot.chat.ports.feedback import Rating, Reason, Vote
from corpus.settings import Settings

PREFIX = "portfolio_bot_"
# Seconds. On two CPUs a cached prompt speaks in under 2, a long new one after 20 or more.
FIRST_WORD_BOUNDS = (0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 60, 120)
NO_REASON = "none"


class Metrics:
    """The numbers of one process; they begin at 0 with it. No label holds what a visitor wrote."""

    def __init__(self) -> None:
        self._answers = Metric(f"{PREFIX}answers_total", "Finished answers by route.", "route")
        self._refusals = Metric(
            f"{PREFIX}refusals_total",
            "Refusals: by the gate before the model, or by the model.",
            "by",
        )
        self._failed = Metric(
            f"{PREFIX}failed_answers_total", "Answers that ended with an error.", "code"
        )
        self._problems = Metric(
            f"{PREFIX}problems_total", "Requests that were answered with an error.", "code"
        )
        self._open = Metric(
            f"{PREFIX}answers_open", "Answers that are under way, waiting ones too.", kind="gauge"
        )
        self._waiting = Metric(
            f"{PREFIX}queue_length", "Visitors who wait for the model.", kind="gauge"
        )
        self._first_word = Histogram(
            f"{PREFIX}first_word_seconds",
            "From the question to the model's first word, waiting in line included.",
            FIRST_WORD_BOUNDS,
        )
        self._prompt_tokens = Metric(
            f"{PREFIX}prompt_tokens_total", "Prompt tokens: cached or evaluated.", "kind"
        )
        self._answer_tokens = Metric(f"{PREFIX}answer_tokens_total", "Tokens the model wrote.")
        self._votes = Metric(
            f"{PREFIX}feedback_total", "Votes on answers, changed ones too.", "rating", "reason"
        )
        self._replaced = Metric(
            f"{PREFIX}feedback_replaced_total",
            "Votes that a later one on the same answer has taken the place of.",
            "rating",
            "reason",
        )
        self._questions = Metric(
            f"{PREFIX}feedback_questions_total",
            "First votes of a day on a question: how many questions stand behind the votes.",
            "rating",
        )
        for route in get_args(Route):
            self._answers.start(route)
        for by in ("gate", "model"):
            self._refusals.start(by)
        for kind in ("cached", "evaluated"):
            self._prompt_tokens.start(kind)
        for votes in (self._votes, self._replaced):
            votes.start("up", NO_REASON)
            for reason in (NO_REASON, *get_args(Reason)):
                votes.start("down", reason)
        for rating in get_args(Rating):
            self._questions.start(rating)

    async def watch(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """The same events, counted."""
        waiting = False
        self._open.add()
        try:
            async with aclosing(events) as stream:
                async for event in stream:
                    if isinstance(event, Queued) != waiting:
                        waiting = not waiting
                        self._waiting.add(amount=1 if waiting else -1)
                    if isinstance(event, Done):
                        self._finished(event)
                    elif isinstance(event, Failed):
                        self._failed.add(event.code)
                    yield event
        except ChatError as error:
            self._failed.add(error.code)
            raise
        except Exception:
            self._failed.add("internal-error")
            raise
        finally:
            self._open.add(amount=-1)
            if waiting:
                self._waiting.add(amount=-1)

    def problem(self, code: str) -> None:
        """Count a request that was answered with an error."""
        self._problems.add(code)

    def voted(self, vote: Vote, outcome: Outcome) -> None:
        """Count a vote; the same one again changes nothing."""
        if outcome.replaced is not None:
            if _labels(outcome.replaced) == _labels(vote):
                return
            self._replaced.add(*_labels(outcome.replaced))
        self._votes.add(*_labels(vote))
        if outcome.new_question:
            self._questions.add(vote.rating)

    def page(self) -> str:
        """All of it as Prometheus reads it."""
        return render(metric for metric in vars(self).values())

    def _finished(self, done: Done) -> None:
        self._answers.add(done.route)
        asked_model = done.usage.input_tokens > 0
        if done.route == "refusal":
            self._refusals.add("model" if asked_model else "gate")
        if done.route == "answer":
            self._first_word.observe(done.timings.first_token_ms / 1000)
        self._prompt_tokens.add("cached", amount=done.timings.cached_tokens)
        self._prompt_tokens.add("evaluated", amount=done.timings.evaluated_tokens)
        self._answer_tokens.add(amount=done.usage.output_tokens)


@get("/metrics", operation_id="ReadMetrics")
async def read_metrics(
    request: Request[Any, Any, Any],
    metrics: NamedDependency[Metrics],
    settings: NamedDependency[Settings],
) -> Response[Any]:
    """The numbers, for the networks that may read them; for anybody else there is no such page."""
    address = request.client.host if request.client else ""
    if came_through_proxy(request.headers) or not is_within(
        address, settings.server.metrics_networks
    ):
        raise ProblemRaised("not-found")
    return Response(content=metrics.page(), media_type=CONTENT_TYPE)


def is_within(address: str, networks: Iterable[str]) -> bool:
    """Whether the address lies in one of the networks; an IPv4 one may come written as IPv6."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return any(ip in ip_network(network) for network in networks)


def _labels(vote: Vote) -> tuple[str, str]:
    return vote.rating, vote.reason or NO_REASON
