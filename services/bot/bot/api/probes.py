"""Ask every dependency whether it works: in parallel, bounded, and not more often than needed.

Anybody may ask for health, so results are shared: a flood of health calls costs one probe a second.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

from bot.chat.errors import ChatError
from bot.chat.ports import Ports
from bot.chat.ports.sharing import StateUnavailable
from bot.chat.warming import Warmth
from corpus.errors import CorpusError
from corpus.settings import Settings

logger = logging.getLogger("bot.health")

PROBE_SECONDS = 2.0
FRESH_SECONDS = 1.0
EMBEDDER_FRESH_SECONDS = 30.0  # a shallow call may report so old a probe: each costs ~33 ms of CPU

Status = Literal["healthy", "degraded", "unhealthy", "disabled"]


class Component(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One dependency as `/api/health` shows it; `latency` in milliseconds."""

    status: Status
    latency: float | None = None
    details: dict[str, str | int | bool] = {}


class _Outcome(Struct, frozen=True, kw_only=True):
    code: str | None
    latency: float
    at: float


class Probes:
    """The probes of one bot."""

    def __init__(
        self,
        settings: Settings,
        ports: Ports,
        *,
        probe_seconds: float = PROBE_SECONDS,
        clock: Callable[[], float] = monotonic,
        warmth: Callable[[], Warmth] = lambda: Warmth(enabled=False),
    ) -> None:
        self._warmth = warmth
        self._settings = settings
        self._ports = ports
        self._probe_seconds = probe_seconds
        self._clock = clock
        self._outcomes: dict[str, _Outcome] = {}
        self._running: dict[str, asyncio.Task[_Outcome]] = {}

    async def components(self, *, deep: bool) -> dict[str, Component]:
        """Every component, within `probe_seconds` though a dependency hangs."""
        embedder_age = FRESH_SECONDS if deep else EMBEDDER_FRESH_SECONDS
        llm, embedder, redis = await asyncio.gather(
            self._llm(),
            self._outcome("embeddings", self._ports.embedder.probe, embedder_age),
            self._redis(),
        )
        embeddings = self._settings.embeddings
        return {
            "llm": llm,
            "store": self._store(),
            "embeddings": _component(
                embedder, "degraded", model=embeddings.model, url=public_url(embeddings.endpoint)
            ),
            "redis": redis,
        }

    async def _llm(self) -> Component:
        """Unhealthy only when no chat server can answer, degraded while one of them can't."""
        servers = self._ports.chat_servers
        outcomes = await asyncio.gather(
            *(
                self._outcome(f"llm-{number}", server.model.check, FRESH_SECONDS)
                for number, server in enumerate(servers)
            )
        )
        failed = [outcome for outcome in outcomes if outcome.code]
        several: dict[str, str | int | bool] = {}
        if len(servers) > 1:
            several = {"servers": len(servers), "servers_up": len(servers) - len(failed)}
        provider = self._settings.provider
        return _component(
            failed[0] if failed else max(outcomes, key=lambda outcome: outcome.latency),
            "degraded" if len(failed) < len(servers) else "unhealthy",
            provider=provider.name,
            model=provider.model,
            url=public_url(provider.endpoint),
            **several,
            **self._warm_pages(),
        )

    def _warm_pages(self) -> dict[str, str | int | bool]:
        warmth = self._warmth()
        return {"warm": warmth.warm, "pages": warmth.pages} if warmth.enabled else {}

    async def _redis(self) -> Component:
        if self._ports.shared is None:
            return Component(status="disabled")
        outcome = await self._outcome("redis", self._ports.shared.check, FRESH_SECONDS)
        # Degraded and never unhealthy: without Redis every bot still limits, on its own.
        return _component(
            outcome,
            "degraded",
            url=public_url(self._settings.redis.url or ""),
            limits="this bot's own" if outcome.code else "shared",
        )

    def _store(self) -> Component:
        state = self._ports.index.state()
        details: dict[str, str | int | bool] = {"chunks": 0, "dense": state.dense}
        if state.index is not None:
            details["chunks"] = len(state.index)
            details["documents"] = len(state.index.documents)
            details["built_at"] = state.index.meta.built_at
            details["gate"] = "calibrated" if state.calibration else "defaults"
        if state.calibration_note:
            details["gate_note"] = state.calibration_note
        if state.problem:
            details["problem"] = state.problem
        ready = state.index is not None and state.dense and not state.problem
        return Component(status="healthy" if ready else "degraded", details=details)

    async def _outcome(
        self, name: str, probe: Callable[[], Awaitable[object]], max_age_seconds: float
    ) -> _Outcome:
        """The last outcome where it is fresh, otherwise that of a probe shared by all callers."""
        known = self._outcomes.get(name)
        # A failure is never served from memory for long: recovery shows within a second.
        age_limit = FRESH_SECONDS if known and known.code else max_age_seconds
        if known and self._clock() - known.at < age_limit:
            return known
        task = self._running.get(name)
        if task is None or task.done():
            task = asyncio.create_task(self._run(name, probe), name=f"probe-{name}")
            self._running[name] = task
        began = self._clock()
        # `wait`, not `wait_for`: the latter waits until a cancelled probe has really ended.
        await asyncio.wait({task}, timeout=self._probe_seconds)
        if task.done() and not task.cancelled():
            return task.result()
        task.cancel()
        now = self._clock()
        latency = round((now - began) * 1000, 1)
        self._outcomes[name] = _Outcome(code="timed-out", latency=latency, at=now)
        return self._outcomes[name]

    async def _run(self, name: str, probe: Callable[[], Awaitable[object]]) -> _Outcome:
        began = self._clock()
        code: str | None = None
        try:
            await probe()
        except (ChatError, CorpusError, StateUnavailable) as error:
            code = error.code
        except Exception as error:
            logger.error("a health probe failed", exc_info=error)
            code = "internal-error"
        now = self._clock()
        outcome = _Outcome(code=code, latency=round((now - began) * 1000, 1), at=now)
        # Written here: a caller that comes before those who wait have woken finds it as well.
        self._outcomes[name] = outcome
        return outcome


def _component(outcome: _Outcome, when_failed: Status, **details: str | int | bool) -> Component:
    shown: dict[str, str | int | bool] = {**details}
    if outcome.code:
        shown["problem"] = outcome.code
    status = when_failed if outcome.code else "healthy"
    return Component(status=status, latency=outcome.latency, details=shown)


def public_url(url: str) -> str:
    """The address without user, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
