"""Times of the HTTP side that tests shorten; in service they have these values."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from msgspec import Struct

from bot.api.envelope import STALL_SECONDS
from bot.api.probes import PROBE_SECONDS
from bot.api.stream import HEARTBEAT_SECONDS


class Timing(Struct, frozen=True, kw_only=True):
    """Every field but the clock in seconds."""

    heartbeat_seconds: float = HEARTBEAT_SECONDS
    """A comment is sent when a stream was quiet for so long."""
    stall_seconds: float = STALL_SECONDS
    """A reader that takes nothing for so long is dropped."""
    probe_seconds: float = PROBE_SECONDS
    """A dependency that does not answer a health probe for so long counts as failed."""
    clock: Callable[[], float] = monotonic
    """What says how old a health probe is: seconds from any start."""
