"""Settings: a wrong value stops the start, and its message names path, value and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.errors import SettingsError
from corpus.settings import Settings
from corpus.settings_file import DEFAULT_FILE, load_settings

ROOT = Path(__file__).parents[2]
PREFIX = "PORTFOLIO_BOT__"


def load(tmp_path: Path, text: str, **environment: str) -> Settings:
    path = tmp_path / "bot.yaml"
    path.write_text(text)
    return load_settings(path, {PREFIX + key: value for key, value in environment.items()})


def refusal(tmp_path: Path, text: str, **environment: str) -> str:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, text, **environment)
    message = str(caught.value)
    assert "\n" not in message
    return message


WRONG = [
    ("server: {port: abc}", ("server.port", "'abc'", "int")),
    ("server: {port: 0}", ("server.port", "0", ">= 1")),
    ("server: {port: 70000}", ("server.port", "70000", "<= 65535")),
    ("server: {host: 5}", ("server.host", "5", "str")),
    ("server: 5", ("server", "5", "object")),
    ("rag:", ("rag", "None", "object")),
    ("server: {rate_limit: {burst: -1}}", ("server.rate_limit.burst", "-1", ">= 1")),
    ("server: {trusted_proxies: 127.0.0.1}", ("server.trusted_proxies", "'127.0.0.1'", "array")),
    ("providers: [{temperature: 3}]", ("providers[0].temperature", "3", "<= 2")),
    ("providers: [{temperature: .nan}]", ("providers[0].temperature", "nan", "float")),
    ("providers: [{type: openai}]", ("providers[0].type", "'openai'", "llamacpp")),
    ("providers: [{name: a}, {default: false, top_p: 0}]", ("providers[1].top_p", "0", "> 0")),
    ("providers: {name: x}", ("providers", "{'name': 'x'}", "array")),
    ("providers: [5]", ("providers[0]", "5", "object")),
    ("rag: {fusion: both}", ("rag.fusion", "'both'", "rrf, score")),
    ("rag: {default_language: fr}", ("rag.default_language", "'fr'", "en, es")),
    ("rag: {threshold: 2}", ("rag.threshold", "2", "<= 1")),
    ("rag: {threshold: .nan}", ("rag.threshold", "nan", "float")),
    ("rag: {top_k: 21}", ("rag.top_k", "21", "<= 20")),
    ("embeddings: {endpoint: 'ftp://x'}", ("embeddings.endpoint", "'ftp://x'", "https?://")),
    ("embeddings: {dimension: 0}", ("embeddings.dimension", "0", ">= 1")),
    ("persona: {name: ''}", ("persona.name", "''", ">= 1")),
    ("persona: {topics: {fr: [a]}}", ("persona.topics", "'fr'", "en, es")),
    ("persona: {topics: {en: a}}", ("persona.topics", "'a'", "array")),
    ("persona: {topics: [a]}", ("persona.topics", "['a']", "object")),
    ("persona: {suggested_questions: {en: [1]}}", ("persona.suggested_questions", "[1]", "str")),
    ("conversations: {ttl_seconds: 0}", ("conversations.ttl_seconds", "0", ">= 1")),
    ("feedback: {store: all}", ("feedback.store", "'all'", "counts, questions")),
    ("feedback: {ttl_seconds: 0}", ("feedback.ttl_seconds", "0", ">= 1")),
    ("feedback: {max_file_bytes: 1}", ("feedback.max_file_bytes", "1", ">= 4096")),
    ("feedback: {store: questions}", ("feedback", "needs a folder in `path`")),
    ("feedback: {free_text: true}", ("feedback", "needs store `questions`")),
    ("server: {metrics_networks: [10.0.0.1/8]}", ("server.metrics_networks[0]", "10.0.0.1/8")),
    ("server: {metrics_networks: ['*']}", ("server.metrics_networks[0]", "'*'", "127.0.0.1")),
    ("server: {1: 2}", ("server", "key", "str")),
    ("1: 2", ("configuration", "key", "str")),
]


@pytest.mark.parametrize(("text", "parts"), WRONG, ids=[text for text, _ in WRONG])
def test_a_wrong_value_is_named_with_its_path_and_what_is_allowed(
    tmp_path: Path, text: str, parts: tuple[str, ...]
) -> None:
    message = refusal(tmp_path, text)
    assert message.startswith(f"{parts[0]}: ")
    assert all(part in message for part in parts), message


@pytest.mark.parametrize(
    ("text", "key", "meant"),
    [
        ("servr: {port: 1}", "servr", "server"),
        ("server: {prot: 1}", "server.prot", "port"),
        ("server: {rate_limit: {brust: 1}}", "server.rate_limit.brust", "burst"),
        ("providers: [{nmae: x}]", "providers[0].nmae", "name"),
        ("rag: {topk: 3}", "rag.topk", "top_k"),
        ("persona: {sugested_questions: {}}", "persona.sugested_questions", "suggested_questions"),
    ],
)
def test_an_unknown_key_is_told_with_the_nearest_known_one(
    tmp_path: Path, text: str, key: str, meant: str
) -> None:
    message = refusal(tmp_path, text)
    assert message.startswith(f"{key}: unknown key; did you mean `{meant}`? Allowed: ")
    assert meant in message.split("Allowed: ")[1].split(", ")


def test_an_unknown_key_like_no_other_is_told_what_there_is(tmp_path: Path) -> None:
    assert "unknown key. Allowed: host, port" in refusal(tmp_path, "server: {xyzzy: 1}")


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("a: [", "line 1"),
        ("a: 1\nb: 'x\n", "line"),
        ("a: 1\n\tb: 2", "line 2"),
        ("- a", "not list"),
        ("just text", "not str"),
    ],
)
def test_what_is_no_mapping_of_yaml_is_refused_with_its_line(
    tmp_path: Path, text: str, sign: str
) -> None:
    message = refusal(tmp_path, text)
    assert "bot.yaml" in message
    assert sign in message


def test_a_missing_or_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no configuration file at .*none\.yaml"):
        load_settings(tmp_path / "none.yaml", {})
    (tmp_path / "latin.yaml").write_bytes(b"persona: {name: A\xf1o}")
    with pytest.raises(SettingsError, match=r"latin\.yaml can't be read"):
        load_settings(tmp_path / "latin.yaml", {})
    with pytest.raises(SettingsError, match="can't be read"):
        load_settings(tmp_path, {})


@pytest.mark.parametrize("text", ["", "# nothing\n", "\ufeffserver: {port: 7331}"])
def test_an_empty_file_is_all_defaults(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text) == Settings()


def test_without_a_file_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings(environment={}) == Settings()
    (tmp_path / DEFAULT_FILE.parent).mkdir()
    (tmp_path / DEFAULT_FILE).write_text("server: {port: 81}")
    assert load_settings(environment={}).server.port == 81


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "server: {port: 1, cors_origins: [https://a.b]}\nproviders: [{name: a, temperature: 0.5}]",
        SERVER__PORT="8000",
        SERVER__CORS_ORIGINS="[https://c.d, https://e.f]",
        SERVER__RATE_LIMIT__BURST="3",
        PROVIDERS__0__ENDPOINT="http://model:8080",
        RAG__THRESHOLD="null",
        EMBEDDINGS__QUERY_PREFIX="''",
        PERSONA__TOPICS__EN="[one, two]",
    )
    assert settings.server.port == 8000
    assert settings.server.cors_origins == ("https://c.d", "https://e.f")
    assert settings.server.rate_limit.burst == 3
    assert settings.provider.endpoint == "http://model:8080"
    assert (settings.provider.name, settings.provider.temperature) == ("a", 0.5)
    assert settings.rag.threshold is None
    assert settings.embeddings.query_prefix == ""
    assert settings.persona.topics == {"en": ("one", "two")}


def test_items_of_lists_are_set_and_added_by_number(tmp_path: Path) -> None:
    text = "server: {cors_origins: [https://a.b]}"
    settings = load(tmp_path, text, SERVER__CORS_ORIGINS__0="https://x.y",
                    SERVER__CORS_ORIGINS__1="https://c.d")  # fmt: skip
    assert settings.server.cors_origins == ("https://x.y", "https://c.d")
    settings = load(tmp_path, "", PROVIDERS__0__NAME="a", PROVIDERS__1__NAME="b",
                    PROVIDERS__1__DEFAULT="false")  # fmt: skip
    assert [provider.name for provider in settings.providers] == ["a", "b"]


@pytest.mark.parametrize(
    ("environment", "parts"),
    [
        ({"SERVER__PORT": "x"}, ("server.port", "'x'")),
        ({"SERVER__PORT": "[1"}, (f"{PREFIX}SERVER__PORT", "'[1'")),
        ({"SERVER__PRT": "1"}, ("server.prt", "`port`")),
        ({"SERVER": "x"}, ("server", "'x'")),
        ({"SERVER__CORS_ORIGINS__5": "https://a.b"}, ("SERVER__CORS_ORIGINS__5", "`5`")),
        ({"PROVIDERS__X": "1"}, ("providers", "object")),
        ({"": "1"}, ("(empty)", "unknown key")),
        ({"SERVER__TRUSTED_PROXIES": ""}, ("server.trusted_proxies", "None")),
        ({"PERSONA__NAME": "123"}, ("persona.name", "123", "str")),
    ],
)
def test_a_wrong_variable_is_named_like_a_wrong_key(
    tmp_path: Path, environment: dict[str, str], parts: tuple[str, ...]
) -> None:
    message = refusal(tmp_path, "", **environment)
    assert all(part in message for part in parts), message


def test_other_variables_are_left_alone(tmp_path: Path) -> None:
    assert load_settings(None, {"PATH": "/bin", "PORTFOLIO_BOT_NO_SKIP": "1"}) is not None


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("https://a.b", "https://a.b"),
        ("https://a.b/", "https://a.b"),
        ("HTTPS://A.B", "https://a.b"),
        (" https://a.b ", "https://a.b"),
        ("https://a.b:443", "https://a.b"),
        ("http://a.b:80", "http://a.b"),
        ("http://a.b:443", "http://a.b:443"),
        ("http://localhost:4321", "http://localhost:4321"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("http://[::1]:80", "http://[::1]"),
        ("https://españa.es", "https://xn--espaa-rta.es"),
    ],
)
def test_an_origin_becomes_what_browsers_send(tmp_path: Path, written: str, sent: str) -> None:
    """CORS-02"""
    settings = load(tmp_path, f"server: {{cors_origins: ['{written}']}}")
    assert settings.server.cors_origins == (sent,)


def test_the_same_origin_written_twice_is_one(tmp_path: Path) -> None:
    settings = load(tmp_path, "server: {cors_origins: [https://a.b, 'https://A.B:443/']}")
    assert settings.server.cors_origins == ("https://a.b",)


@pytest.mark.parametrize(
    "origin",
    [
        "*", "null", "", "a.b", "//a.b", "ftp://a.b", "file:///x", "https://", "https://*.a.b", "https://a b",
        "https://a.b/blog", "https://a.b?x", "https://a.b#x", "https://user:pw@a.b", "https://@a.b",
        "https://a.b:99999", "https://a.b:port", "https://[::1", "https://-a.b", "javascript:alert(1)",
        "https://a..b",
    ],
)  # fmt: skip
def test_what_is_no_origin_is_refused_by_its_number(tmp_path: Path, origin: str) -> None:
    """CORS-02"""
    text = f"server: {{cors_origins: ['https://ok.example', '{origin}']}}"
    message = refusal(tmp_path, text)
    assert message.startswith(f"server.cors_origins[1]: {origin!r} is not allowed: ")


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("providers: []", "found 0"),
        ("providers: [{default: false}]", "found 0"),
        ("providers: [{name: a}, {name: b}]", "found 2 (a, b)"),
        ("providers: [{max_tokens: 3000}]", "at most half of context_size (4096)"),
        ("providers: [{context_size: 512, max_tokens: 320}]", "at most half of context_size (512)"),
        (
            "providers: [{more_endpoints: ['http://127.0.0.1:7332']}]",
            "providers[0].more_endpoints[0]: 'http://127.0.0.1:7332'",
        ),
        (
            "providers: [{more_endpoints: ['http://b', 'http://b']}]",
            "providers[0].more_endpoints[1]: 'http://b'",
        ),
    ],
)
def test_providers_must_leave_one_choice_and_room(tmp_path: Path, text: str, sign: str) -> None:
    message = refusal(tmp_path, text)
    assert message.startswith("providers")
    assert sign in message


def test_the_written_configuration_loads() -> None:
    settings = load_settings(ROOT / DEFAULT_FILE, {})
    assert settings.persona.suggested_questions.keys() == {"en", "es"}
    assert settings.provider.context_size >= 2 * settings.provider.max_tokens


def test_a_provider_is_told_once_for_each_of_its_servers(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "providers: [{endpoint: 'http://a', max_tokens: 100}]",
        PROVIDERS__0__MORE_ENDPOINTS__0="http://b",
    )
    servers = settings.provider.servers()
    assert [server.endpoint for server in servers] == ["http://a", "http://b"]
    assert all(server.max_tokens == 100 and not server.more_endpoints for server in servers)
