"""Which chat server is there now: asked before each use, found out anew when it was restarted."""

from __future__ import annotations

import logging
from typing import Literal

from bot.adapters.states.fingerprint import Identity, Props
from bot.adapters.states.slot import SlotError, SlotServer, SlotsUnsupported

log = logging.getLogger("bot.states")


class Connection:
    """The identity of the server behind a SlotServer."""

    def __init__(self, server: SlotServer) -> None:
        self._server = server
        self._identity: Identity | None = None
        self._refused: Props | None = None
        self.fingerprint = ""
        """Of the server in service; empty while none is known."""
        self.refusal: str | None = None
        """Why this server gets no states."""

    async def check(self) -> Literal["same", "new", "none"]:
        """Whether states can be used with the server that answers now.

        One GET, 2 to 5 ms. A server that was not there before is identified, which evaluates nine
        tokens: then the slot holds nothing of worth.
        """
        props: Props | None = None
        try:
            props = await self._server.props()
            if self._identity is not None and props == self._identity.props:
                return "same"
            if self._refused is not None and props == self._refused:
                return "none"
            self.lost()
            identity = await self._server.identify(props)
        except SlotsUnsupported as error:
            self._refuse(str(error), props)
            return "none"
        except SlotError:
            self.lost()
            return "none"
        if self.refusal is not None:
            log.info("prompt states are on: another chat server")
        self.refusal = self._refused = None
        self._identity, self.fingerprint = identity, identity.fingerprint
        return "new"

    def lost(self) -> None:
        """It failed: who is there has to be found out anew."""
        self._identity = None
        self.fingerprint = ""

    def refuse(self, reason: str) -> None:
        """No states until the server is another one, or was restarted."""
        self._refuse(reason, self._identity.props if self._identity else None)

    def _refuse(self, reason: str, props: Props | None) -> None:
        if self.refusal != reason:
            log.warning("prompt states are off: %s", reason)
        self.refusal, self._refused = reason, props
        self.lost()
