"""Everything that any logger says, at every level, as the product would write it."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def captured_log(formatter: logging.Formatter) -> Iterator[io.StringIO]:
    """The text of the log while the block runs."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    # The test's own client runs in this process too.
    handler.addFilter(lambda record: not record.name.startswith(("httpx", "httpcore")))
    with listening(handler, logging.getLogger(), logging.DEBUG):
        yield stream


@contextmanager
def listening(handler: logging.Handler, logger: logging.Logger, level: int) -> Iterator[None]:
    """Have `handler` hear a logger from this level on while the block runs."""
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
