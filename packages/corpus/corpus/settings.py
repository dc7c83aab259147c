"""Every setting of portfolio-bot, with its default and one sentence each.

Loaded from a YAML file; an environment variable `PORTFOLIO_BOT__SERVER__PORT=8000` overrides
`server.port` (list items by number: `PORTFOLIO_BOT__PROVIDERS__0__ENDPOINT`). A wrong value stops the
start with the key's path, the value and what is allowed. Secrets are never values here, only the
paths of files that hold them. See corpus.settings_file for the loading.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

Port = Annotated[int, Meta(ge=1, le=65535)]
Positive = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0)]
Url = Annotated[str, Meta(pattern=r"^https?://[^\s/]+")]
Text = Annotated[str, Meta(min_length=1, max_length=4000)]
REDIS_URL = re.compile(r"rediss?://(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?(/\d{0,2})?")


class RateLimitSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often one address (IPv6: one /64) may ask, and how much all visitors together."""

    requests_per_minute: Positive = 30
    """Sustained rate."""
    burst: Positive = 10
    """Requests that may come at once."""
    ipv6_network_factor: Annotated[int, Meta(ge=1, le=65_536)] = 8
    """An IPv6 /48 may ask so many times as much as one visitor, over all its /64 together."""
    model_seconds_per_minute: Annotated[float, Meta(ge=0.1, le=6000)] = 45.0
    """Seconds of the model's work for all visitors in each minute, in the long run; then 503 `busy`."""
    model_seconds_burst: Annotated[float, Meta(ge=1, le=86_400)] = 600.0
    """Seconds of its work that may be used up beyond that rate after a quiet time."""


class ServerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The HTTP server."""

    host: str = "127.0.0.1"
    """Address to listen on; `0.0.0.0` only behind a gateway."""
    port: Port = 7331
    """Port to listen on."""
    cors_origins: tuple[str, ...] = ()
    """Origins that may embed the chat, exactly as the browser sends them: `https://example.com`."""
    trusted_proxies: tuple[str, ...] = ("127.0.0.1",)
    """Addresses or networks whose X-Forwarded-For is believed; never `*`."""
    rate_limit: RateLimitSettings = field(default_factory=RateLimitSettings)
    """Limit for each visitor."""
    max_body_bytes: Annotated[int, Meta(ge=1024, le=1_048_576)] = 16_384
    """Larger requests are refused with 413."""
    max_question_chars: Annotated[int, Meta(ge=50, le=8000)] = 1000
    """A longer question is refused, never cut."""
    queue_size: Annotated[int, Meta(ge=0, le=100)] = 8
    """Visitors that may wait, a quarter of them from one address; the next one gets 503 and Retry-After."""
    queue_seconds: Seconds = 60.0
    """Longest wait for the model; after it the found passages are the answer."""
    owner_token_file: str | None = None
    """File with the token that `/api/reindex` asks for; without it that route is closed."""
    metrics_networks: tuple[str, ...] = ()
    """Addresses or networks that may read `/metrics`, not through a proxy; empty closes that route."""


class ProviderSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A language model behind an HTTP endpoint."""

    name: Text = "local"
    """A name for logs and `/api/health`."""
    type: Literal["llamacpp"] = "llamacpp"
    """Which protocol it speaks."""
    model: Text = "qwen2.5-1.5b-instruct"
    """Model name sent upstream and shown in `/api/info`."""
    endpoint: Url = "http://127.0.0.1:7332"
    """Base address of llama-server."""
    more_endpoints: tuple[Url, ...] = ()
    """Further llama-servers with the same model file and options: each answers one more visitor at a time."""
    context_size: Annotated[int, Meta(ge=512)] = 4096
    """Window in tokens; the same number as llama-server's `-c`."""
    max_tokens: Annotated[int, Meta(ge=16, le=4096)] = 320
    """Longest answer in tokens."""
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.0
    """0 is greedy; small models invent more the higher it is."""
    top_k: Annotated[int, Meta(ge=0)] = 40
    """Sample among so many tokens; 0 is all."""
    top_p: Annotated[float, Meta(gt=0, le=1)] = 0.9
    """Sample among the tokens that hold so much probability."""
    repeat_penalty: Annotated[float, Meta(ge=0.5, le=2)] = 1.0
    """Above 1 it discourages repetition, and spoils numbers: with 1.05 `11` comes out as `10`."""
    first_token_seconds: Seconds = 120.0
    """Longest wait for the first token."""
    total_seconds: Seconds = 240.0
    """Longest time for a whole answer."""
    sha256: str | None = None
    """Hash of the model file where it is known; prompt states of another one are never used."""
    states_path: str = ""
    """Folder of the prompt states, the same as llama-server's `--slot-save-path`; empty: none."""
    states_megabytes: Annotated[int, Meta(ge=0)] = 4096
    """Most that prompt states may take on disk; the least recently used go first, 0 is off."""
    warm_when_idle: bool = True
    """Evaluate pages and answer suggested questions while nobody asks; `chat-bot warm` does it at once."""
    default: bool = True
    """Exactly one provider is the default."""

    def servers(self) -> tuple[ProviderSettings, ...]:
        """This provider once for each of its servers, with that server's address as `endpoint`."""
        return tuple(
            replace(self, endpoint=each, more_endpoints=())
            for each in (self.endpoint, *self.more_endpoints)
        )


class EmbeddingSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The embedding server and how its model wants to be addressed."""

    endpoint: Url = "http://127.0.0.1:7333"
    """Base address of the llama-server that embeds."""
    model: Text = "multilingual-e5-small"
    """Name recorded in the index; another name means another index."""
    dimension: Positive = 384
    """Length of its vectors."""
    query_prefix: str = "query: "
    """Put before a question."""
    passage_prefix: str = "passage: "
    """Put before a passage."""
    pooling: str = "mean"
    """How the server pools; recorded in the index."""
    window_tokens: Annotated[int, Meta(ge=64)] = 512
    """Longest input of the model; a longer passage is embedded in windows and averaged."""
    batch_size: Annotated[int, Meta(ge=1, le=64)] = 16
    """Passages sent in one request."""
    timeout_seconds: Seconds = 60.0
    """For one request of the indexer."""
    query_timeout_seconds: Seconds = 3.0
    """For the embedding of one question; after it the search is by keywords only."""
    sha256: str | None = None
    """Hash of the model file where it is known; recorded in the index."""


class RagSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the content is and how it is searched."""

    data_path: str = "data/projects"
    """Folder of the projects."""
    docs_path: str = "data/docs"
    """Folder of other pages: CV, about, contact."""
    posts_path: str = "data/posts"
    """Folder of the posts."""
    index_path: str = "var/index"
    """Folder of the published index."""
    site_url: str = ""
    """Put before every link, `https://example.com`; empty links are relative to the site."""
    project_url: str = "/projects/{slug}"
    """Address of a project below `site_url`."""
    doc_url: str = "/{slug}"
    """Address of a page below `site_url`."""
    post_url: str = "/posts/{slug}"
    """Address of a post below `site_url`."""
    default_language: Literal["en", "es"] = "en"
    """Language of a text or a question that gives no sign of its own."""
    top_k: Annotated[int, Meta(ge=1, le=20)] = 5
    """Passages put before the model."""
    chunk_tokens: Annotated[int, Meta(ge=64, le=480)] = 256
    """Upper limit of a passage, counted by the embedding model's tokenizer."""
    page_tokens: Annotated[int, Meta(ge=200, le=2000)] = 900
    """Upper limit of a page, counted by the chat model's tokenizer; a longer passage is its own."""
    context: Literal["page", "passages"] = "page"
    """What the model reads: the best passage's whole page, whose evaluated state can be kept, or the
    passages found, which are evaluated anew for every question."""
    fusion: Literal["score", "rrf"] = "score"
    """How keyword and dense ranks are joined; `score` is better across languages."""
    lexical_weight: Annotated[float, Meta(ge=0, le=1)] = 0.08
    """Weight of keyword coverage beside the cosine in `score` fusion."""
    threshold: Annotated[float, Meta(ge=0, le=1)] | None = None
    """Least probability that the content holds the answer; null takes the calibrated cut."""


class PersonaSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who the bot says it is."""

    name: Text = "Marea"
    """Shown to visitors and said when they ask who is speaking."""
    topics: dict[Literal["en", "es"], tuple[str, ...]] = field(default_factory=dict)
    """What the site is about, in a few words for each language."""
    system_prompt: str | None = None
    """Replaces the first sentence of the instructions to the model."""
    system_prompt_es: str | None = None
    """The same for visitors who write Spanish; without it `system_prompt` serves both."""
    suggested_questions: dict[Literal["en", "es"], tuple[str, ...]] = field(default_factory=dict)
    """Shown as buttons and with every refusal."""


class ConversationSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Server-side memory of conversations."""

    ttl_seconds: Positive = 3600
    """An id is forgotten so long after its last use."""
    max_active: Positive = 10_000
    """Ids kept at once in the bot's memory, the oldest goes first; in Redis `maxmemory` is the bound."""


class FeedbackSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Thumbs up or down under an answer."""

    enabled: bool = True
    """Whether visitors may vote; false closes `/api/feedback`, and the widget shows no thumbs."""
    store: Literal["counts", "questions"] = "counts"
    """`counts` keeps numbers only; `questions` also writes each vote with its question to a file."""
    path: Text | None = None
    """Folder of that file, `feedback.jsonl`; needed with `questions`."""
    free_text: bool = False
    """Whether a vote may carry a comment in the visitor's words; only with `questions`."""
    max_file_bytes: Annotated[int, Meta(ge=4096)] = 10_485_760
    """The file grows no larger; votes beyond are counted, not written."""
    ttl_seconds: Positive = 3600
    """An answer may be voted on for so long."""

    def __post_init__(self) -> None:
        if self.store == "questions" and self.path is None:
            raise ValueError("store `questions` needs a folder in `path`")
        if self.free_text and self.store != "questions":
            raise ValueError("free_text needs store `questions`: a comment is no number")


class KnownAnswerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Finished answers that are given again at once: to suggested questions, and to exact repeats."""

    enabled: bool = True
    """Whether answers are kept; false asks the model every time."""
    ttl_minutes: Positive = 60
    """The answer to a visitor's first question is kept so long, in memory only."""
    path: Text | None = None
    """Folder of the answers to suggested questions; null keeps them until the bot stops."""


class RedisSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """State that several bots share and that outlives a restart; without it all is in the process."""

    url: Text | None = None
    """`redis://host:6379` (`rediss://` with TLS); null keeps limits and conversations in the bot."""
    username: Text | None = None
    """Its ACL user; null is Redis' `default`."""
    password_file: str | None = None
    """File with that user's password; read anew at each connection."""
    timeout_seconds: Annotated[float, Meta(ge=0.01, le=2)] = 0.25
    """Longest wait for Redis in one request; after it the bot's own limits count."""

    def __post_init__(self) -> None:
        # Not a pattern of the type: the error must not repeat a password that stands in the URL.
        if self.url is not None and not REDIS_URL.fullmatch(self.url):
            raise ValueError(
                "url is redis://host:port or redis://host:port/number, nothing else; "
                "user and password have keys of their own"
            )


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole configuration."""

    server: ServerSettings = field(default_factory=ServerSettings)
    providers: tuple[ProviderSettings, ...] = (ProviderSettings(),)
    embeddings: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    rag: RagSettings = field(default_factory=RagSettings)
    persona: PersonaSettings = field(default_factory=PersonaSettings)
    conversations: ConversationSettings = field(default_factory=ConversationSettings)
    known_answers: KnownAnswerSettings = field(default_factory=KnownAnswerSettings)
    feedback: FeedbackSettings = field(default_factory=FeedbackSettings)
    redis: RedisSettings = field(default_factory=RedisSettings)

    @property
    def provider(self) -> ProviderSettings:
        """The default provider."""
        return next(provider for provider in self.providers if provider.default)
