"""Conversation ids in Redis: they outlive a restart of the bot, and every replica knows them."""

from __future__ import annotations

import re
import secrets
from typing import Any

from bot.adapters.conversations import ID_BYTES, LocalConversations
from bot.adapters.redis_keys import conversation_key
from bot.adapters.redis_link import RedisLink
from bot.adapters.redis_scripts import RESUME
from bot.chat.ports.sharing import StateUnavailable
from corpus.settings import ConversationSettings

MINTED = re.compile(r"[A-Za-z0-9_-]{32}")


class RedisConversations:
    """A bot.chat.ports.Conversations; Redis holds a number of turns and never a word.

    `conversations.max_active` is no bound here: each id costs about 100 bytes for its lifetime,
    `maxmemory` is the bound, and with `volatile-ttl` the longest unused goes first.
    """

    def __init__(
        self, settings: ConversationSettings, link: RedisLink, local: LocalConversations
    ) -> None:
        self._lifetime_ms = settings.ttl_seconds * 1000
        self._link = link
        self._local = local
        self._resume = link.redis.register_script(RESUME)

    async def resume(self, conversation_id: str | None) -> str:
        """That id where Redis knows it, a new one otherwise, within 0.3 s.

        While Redis fails, ids are minted and known by this process alone; a conversation from
        before gets a new one, and so does one from that time once Redis is back.
        """
        try:
            return (await self.take_turn(conversation_id))[0]
        except StateUnavailable:
            return await self._local.resume(conversation_id)

    async def take_turn(self, conversation_id: str | None) -> tuple[str, int]:
        """The id that counts and which question of that conversation this is, from 1.

        Raises:
            StateUnavailable: Redis can't say.
        """
        known = conversation_id or ""
        if MINTED.fullmatch(known) and (turn := await self._count(known, fresh=False)):
            return known, turn
        minted = secrets.token_urlsafe(ID_BYTES)
        return minted, await self._count(minted, fresh=True)

    async def _count(self, conversation_id: str, *, fresh: bool) -> int:
        async def run() -> Any:
            return await self._resume(
                keys=[conversation_key(conversation_id)], args=[self._lifetime_ms, int(fresh)]
            )

        return int(await self._link.run(run))
