"""The day of the question, to which what goes on is counted."""

from __future__ import annotations

from datetime import UTC, date, datetime


def utc_today() -> date:
    """Today in UTC."""
    return datetime.now(UTC).date()
