"""Count tokens as the chat model does, through its server's `/tokenize`."""

from __future__ import annotations

from types import TracebackType

import httpx
import msgspec

from corpus.embedding import TOKENIZE_ROUTE
from corpus.settings import ProviderSettings
from corpus.token_estimate import estimated_tokens

PROBE = "one"
CONNECT_SECONDS = 2.0
READ_SECONDS = 10.0  # counting takes no slot of the model: a busy server answers as well


class ChatTokenCounter:
    """Counts through one provider; estimates from its first failure on. Close it after use."""

    def __init__(
        self, provider: ProviderSettings, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.model = provider.model
        """Name of the model asked."""
        self._is_up = True
        self._http = httpx.Client(
            base_url=provider.endpoint,
            timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            verify=provider.endpoint.startswith("https:"),
            trust_env=False,
            transport=transport,
        )

    def __enter__(self) -> ChatTokenCounter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.close()

    def __call__(self, text: str) -> int:
        """Tokens of `text`; never raises."""
        count = self._ask(text) if self._is_up else None
        if count is None:
            # One time-out is enough: a site of 1,000 passages would wait for hours
            self._is_up = False
            return estimated_tokens(text)
        return count

    def answers(self) -> bool:
        """Whether the server counts now; asks it."""
        self(PROBE)
        return self._is_up

    @property
    def tokenizer(self) -> str | None:
        """Name of the model that counted; None once anything had to be estimated."""
        return self.model if self._is_up else None

    def _ask(self, text: str) -> int | None:
        for _ in range(2):
            try:
                response = self._http.post(TOKENIZE_ROUTE, json={"content": text})
                return len(msgspec.json.decode(response.content)["tokens"])
            except (httpx.RemoteProtocolError, httpx.ReadError):
                continue  # llama-server closes idle connections: one fresh try
            except (httpx.HTTPError, msgspec.DecodeError, KeyError, TypeError):
                return None
        return None
