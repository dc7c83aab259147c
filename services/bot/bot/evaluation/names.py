"""Which words of a sentence are names, and whether a text holds them.

A name is a word written in a way ordinary words are not: with a capital inside the sentence, with
capitals or digits in it (`PostgreSQL`, `H264`), or a technology of a fixed list in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.evaluation.facts import folded, holds
from corpus.text import STOP_WORDS

WORD = re.compile(r"[^\W\d_]\w*(?:[-.&'’/@][\w+#]+)*[+#]*")
CODE = re.compile(r"`([^`\n]{1,80})`")
BEGINNING = re.compile(r"(?:^|[:;¿¡«“\"(\[—–]|[.!?…]\s)\s*\W*\Z")
SHAPED = re.compile(r"\w+[A-ZÀ-Þ]|\w*\d|.*[+#]\Z|[A-Z]+[.&/][A-Z]|\w+\.[a-z]{2,3}\Z")
ROMAN = re.compile(r"[IVX]+\Z")
# Written small, or first in a sentence, these are still no ordinary words of either language.
TECHNOLOGIES = frozenset(
    "airflow algolia android angular ansible apache arduino astro aws azure babel bash bitbucket blazor "
    "bootstrap caddy cassandra chromium circleci clickhouse clojure cloudflare cobol cockroachdb codeigniter "
    "contentful cordova couchbase couchdb cypress dart debian deno discord django docker drupal dynamodb "
    "elasticsearch electron elixir ember erlang eslint fastapi fastify figma firebase flask flutter fortran "
    "gatsby github gitlab golang google grafana graphql gradle hadoop haskell helm heroku hetzner htmx hugo "
    "ibm ionic jamstack java javascript jenkins jest jira joomla jquery julia jupyter kafka keras kotlin "
    "kubernetes laravel leaflet linux litestream magento mariadb mastodon matlab maven memcached meteor "
    "microsoft mocha mongodb mysql nestjs netlify nginx nodejs nuxt nvidia ollama openai openapi openshift "
    "oracle paypal pandas perl phoenix php playwright podman postgres postgresql preact prisma prometheus "
    "puppeteer pytest python pytorch qwik rabbitmq rails redis redux rollup rspec ruby saas salesforce "
    "sanity scala selenium sentry shopify slack sqlite stripe supabase svelte sveltekit symfony tailwind "
    "tensorflow terraform timescaledb typescript ubuntu vercel vite vitest vue webpack websocket websockets "
    "wordpress zod zustand bizum klarna kubectl".split()
)
# One name in two languages: places, languages, peoples, and the words of titles and degrees.
TWINS: tuple[frozenset[str], ...] = tuple(
    frozenset(line.split())
    for line in """
spanish espanol espanola castellano castilian spain espana
english ingles inglesa england inglaterra
galician gallego gallega galego galicia
portuguese portugues portuguesa portugal
french frances francesa france francia
german aleman alemana germany alemania
italian italiano italiana italy italia
catalan catalana
basque vasco euskera
european europeo europea europe europa
atlantic atlantico atlantica
cantabrian cantabrico
london londres
lisbon lisboa
developer developers desarrollador desarrolladora desarrolladores
engineer engineers ingeniero ingeniera ingenieros engineering ingenieria
designer disenador disenadora design diseno
founder founders fundador fundadora fundadores
studio estudio
bank banco
university universidad
degree grado licenciatura
master masters maestria
bachelor bachelors
physics fisica
mathematics matematicas
computer informatica computing
science sciences ciencia ciencias
curriculum cv
frontend front-end
backend back-end
services service servicios servicio
projects project proyectos proyecto
posts post articulos articulo
contact contacto
experience experiencia
education educacion formacion
skills habilidades competencias
museum museo
lighthouse faro
christmas navidad
internet web
""".strip().splitlines()
)  # fmt: skip
NOT_NAMES = frozenset({"i", "ok", "yes", "no", "si"})


def names(sentence: str) -> Iterator[str]:
    """The names of one sentence as written, terms between backticks included."""
    yield from CODE.findall(sentence)
    text = CODE.sub(" ", sentence)
    found = [(match, _is_beginning(text, match)) for match in WORD.finditer(text)]
    for place, (match, is_first) in enumerate(found):
        word = match[0].removesuffix("'s").removesuffix("’s")
        small = folded(word)
        if small in NOT_NAMES or small.startswith(("i'", "i’")):
            continue
        shaped = SHAPED.match(word) is not None and not ROMAN.match(word)
        capital = word[0].isupper()
        leads = (
            is_first
            and small not in STOP_WORDS
            and place + 1 < len(found)
            and found[place + 1][0][0][0].isupper()
            and text[match.end() : found[place + 1][0].start()] == " "
        )
        if shaped or small in TECHNOLOGIES or (capital and (not is_first or leads)):
            yield word


def holds_name(text: str, words: frozenset[str], name: str) -> bool:
    """Whether a folded text, or the set of its words, holds the name.

    Also its singular or plural, every part of a joined name, or its form in the other language.
    """
    small = folded(name)
    if holds(text, small):
        return True
    parts = re.findall(r"[^\W_]+", small)
    return (
        bool(parts)
        and "+" not in small
        and "#" not in small
        and all(_holds_word(words, part) for part in parts)
    )


def _holds_word(words: frozenset[str], word: str) -> bool:
    forms = {word, f"{word}s", f"{word}es", word.removesuffix("s"), word.removesuffix("es")}
    forms |= {twin for twins in TWINS if word in twins for twin in twins}
    return not forms.isdisjoint(words)


def _is_beginning(text: str, match: re.Match[str]) -> bool:
    return BEGINNING.search(text[: match.start()]) is not None
