"""Keys that all replicas make alike, that hold no address, and that nobody can follow over days.

    rl:day:{day}         a random secret; the first replica of a UTC day sets it, for 48 h
    rl:a:{hash}          allowance of an IPv4 address or an IPv6 /64
    rl:n:{hash}          allowance of an IPv6 /48
    rl:model             model seconds that all visitors have spent
    rl:probe             what health writes
    conv:{hash}          turns of a conversation
    conv:answer:{hash}, conv:vote:{hash}   bot.adapters.redis_feedback

The hash is BLAKE2b under the day's secret. Once that is gone, no list of all addresses finds whose
key a hash was; the allowances themselves are gone after seconds.
"""

from __future__ import annotations

import secrets
from hashlib import blake2b, sha1

from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import OutOfMemoryError

from bot.adapters.limiter import address_bucket
from bot.adapters.redis_fallback import network_bucket

SECRET_BYTES = 32
# Much longer than any other key: volatile-ttl evicts what ends soonest, so the secret goes last.
SECRET_SECONDS = 48 * 3600
DAY_SECONDS = 24 * 3600
MODEL_KEY = "rl:model"
PROBE_KEY = "rl:probe"


class DaySecret(Struct, frozen=True, kw_only=True):
    """The secret of one UTC day of Redis' clock."""

    day: int
    secret: bytes

    @property
    def key(self) -> str:
        """Where Redis has it."""
        return day_key(self.day)

    @property
    def fingerprint(self) -> str:
        """What a script compares to see that this is still the secret: no secret in its log."""
        return sha1(self.secret, usedforsecurity=False).hexdigest()

    def visitor_keys(self, address: str) -> tuple[str, ...]:
        """Keys of the allowances an address draws from: its own, and an IPv6 network's."""
        own = f"rl:a:{self._hash(address_bucket(address))}"
        network = network_bucket(address)
        return (own,) if network is None else (own, f"rl:n:{self._hash(network)}")

    def _hash(self, text: str) -> str:
        return blake2b(text.encode(), key=self.secret[:64], digest_size=16).hexdigest()


async def fetch_day_secret(redis: Redis) -> DaySecret:
    """Today's secret, by Redis' clock; made and kept there where there is none.

    Raises:
        RedisError: it can't be had.
        OutOfMemoryError: Redis evicted it at once.
        ValueError: what Redis holds is no secret of ours.
    """
    seconds, _ = await redis.time()
    day = int(seconds) // DAY_SECONDS
    await redis.set(day_key(day), secrets.token_bytes(SECRET_BYTES), nx=True, ex=SECRET_SECONDS)
    secret = await redis.get(day_key(day))
    if secret is None:
        raise OutOfMemoryError("Redis evicts the secret of the day at once")
    if not isinstance(secret, bytes) or len(secret) != SECRET_BYTES:
        raise ValueError(f"{day_key(day)} holds no secret")
    return DaySecret(day=day, secret=secret)


def day_key(day: int) -> str:
    """Key of a day's secret."""
    return f"rl:day:{day}"


def conversation_key(conversation_id: str) -> str:
    """Key of a conversation; hashed, so that a dump of Redis opens no conversation."""
    return f"conv:{blake2b(conversation_id.encode(), digest_size=16).hexdigest()}"
