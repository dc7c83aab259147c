"""The independent check of an answer's facts and citations, on answers as models write them."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from bot.evaluation.answers import Shown
from bot.evaluation.claims import claims
from bot.evaluation.content import IndexContent, QuoteContent
from bot.evaluation.evidence import Evidence, Text
from bot.evaluation.sentences import sentences
from bot.evaluation.support import citations, unsupported
from corpus import passage
from corpus.model import Chunk, Document
from corpus.passage import Passage
from corpus.reader import Index, open_index
from corpus.section_kinds import SectionKind
from corpus.span_parser import find_spans
from tests.small_index import Page, Part, small_index

TODAY = date(2026, 11, 30)
SHOP = """Trama: online clothes shop
Database PostgreSQL 15, hosted on a Hetzner server. Payments: Stripe. Labels come from Paquete Azul.
2,300 orders in the first year. Returns fell from 19 % to 12 %.
The registers export a CSV file every 10 minutes.
Orders are taken until 21:00. It was removed in May 2023. Work went on from September 2022 to February 2023.
Write to hola@marea.example or see https://example.com/trama. The shop is live in Spanish and Portuguese.
A reservation lasts 20 minutes. Customers may send a garment back within 30 days.

- orders
- stock
- returns
- texts"""
JOB = "Metrimex, Jul 2024 – Jun 2026. Estudio Marea, 2021 – present. Un servicio en Go con 86.000 contadores."


def evidence(*texts: str, counting: bool = False) -> Evidence:
    return Evidence(
        [Text(text=text, spans=tuple(find_spans(text))) for text in texts], TODAY, counting=counting
    )


NOTHING = evidence()


def missing(answer: str, lang: str = "en", *, asked: str = "", counting: bool = False) -> list[str]:
    held = evidence(SHOP, JOB, counting=counting)
    found = unsupported(list(sentences(answer)), lang, held, evidence(asked))
    return [claim.said for claim in found]


@pytest.mark.parametrize(
    ("answer", "lang"),
    [
        ("The shop uses PostgreSQL 15 and Stripe [1]. Hosting: a Hetzner server. [1]", "en"),
        ("La tienda usa PostgreSQL 15 y cobra con Stripe. [1]", "es"),
        ("Tuvo 2.300 pedidos y las devoluciones bajaron del 19 % al 12 % [1].", "es"),
        ("Los pedidos se aceptan hasta las 9 pm, es decir, las 21:00.", "es"),
        ("Orders are taken until nine in the evening.", "en"),
        ("Se retiró en mayo de 2023; se trabajó de septiembre de 2022 a febrero de 2023.", "es"),
        ("The team worked for Metrimex for two years (Jul 2024 – Jun 2026) [2].", "en"),
        ("Trabajó en Metrimex 24 meses, desde julio de 2024.", "es"),
        ("Metrimex lasted 2 years.", "en"),
        ("Estudio Marea lleva de 5 a 6 años.", "es"),
        ("The service reads 86,000 meters and is written in Go.", "en"),
        ("La tienda está en español y portugués; en inglés no.", "es"),
        ("The shop speaks Spanish and Portuguese.", "en"),
        ("Write to hola@marea.example or visit example.com/trama.", "en"),
        ("The source says: “Customers may send a garment back within 30 days.” [1]", "en"),
        (
            "La fuente dice: «Labels come from Paquete Azul. 2,300 orders in the first year.» [1]",
            "es",
        ),
        ("There are two payment services:\n- Stripe\n- Paquete Azul", "en"),
        ("Two of its parts are named: Stripe and PostgreSQL.", "en"),
        ("Updates come twice a year, and it may take a month.", "en"),
    ],
)
def test_what_the_content_says_is_supported_in_either_language(answer: str, lang: str) -> None:
    assert missing(answer, lang) == []


@pytest.mark.parametrize(
    ("answer", "lang", "said"),
    [
        ("The shop uses MySQL.", "en", ["MySQL"]),
        ("kubernetes runs it.", "en", ["kubernetes"]),
        ("Kubernetes runs it.", "en", ["Kubernetes"]),
        ("It uses PostgreSQL 16.", "en", ["16"]),
        ("Tuvo 2.400 pedidos.", "es", ["2.400"]),
        ("Tuvo 23 pedidos.", "es", ["23"]),
        ("It has seventeen employees.", "en", ["seventeen"]),
        ("La fundaron tres personas.", "es", ["tres"]),
        ("It was removed in June 2023.", "en", ["june 2023"]),
        ("Se retiró el 3 de mayo de 2023.", "es", ["3 de mayo de 2023"]),
        ("It was removed in May 2022.", "en", ["may 2022"]),
        ("The work began in August.", "en", ["August"]),
        ("It opens on Monday.", "en", ["Monday"]),
        ("Abre los lunes.", "es", ["lunes"]),
        ("The team worked there for 3 years.", "en", ["3 years"]),
        ("Trabajó allí 20 meses.", "es", ["20 meses"]),
        ("Trabajó allí de 3 a 4 años.", "es", ["3 a", "4 anos"]),
        ("Orders are taken until 20:00.", "en", ["20:00"]),
        ("Orders are taken until 8 pm.", "en", ["8 pm"]),
        ("The parcels go with Correos Express.", "en", ["Correos", "Express"]),
        ("La fundó María López.", "es", ["María", "López"]),
        ("María López la fundó.", "es", ["María", "López"]),
        ("Write to info@marea.example.", "en", ["info@marea.example"]),
        ("See https://evil.example/trama.", "en", ["https://evil.example/trama."]),
        ("The source says: “Customers may send everything back at once.”", "en",
         ["Customers may send everything back at once."]),
        ("It runs `libpq`.", "en", ["libpq"]),
        ("The shop is live in French.", "en", ["French"]),
    ],
)  # fmt: skip
def test_what_it_does_not_say_is_found(answer: str, lang: str, said: list[str]) -> None:
    assert missing(answer, lang) == said


def test_words_of_the_question_may_be_repeated() -> None:
    assert missing("There is nothing about MySQL 8.", asked="Do you use MySQL 8?") == []
    assert missing("There is nothing about MySQL 8.", asked="Do you use MySQL?") == ["8"]


def test_a_list_may_be_counted_only_when_a_number_was_asked_for() -> None:
    assert missing("The back office has four screens.") == ["four"]
    assert missing("The back office has four screens.", counting=True) == []
    assert missing("The back office has five screens.", counting=True) == ["five"]


def test_open_ranges_go_on_to_the_day_of_the_question() -> None:
    said = list(sentences("Estudio Marea has existed for more than 5 years."))
    held = [Text(text=JOB, spans=tuple(find_spans(JOB)))]
    for today, found in ((TODAY, 0), (date(2035, 1, 1), 1)):
        assert len(unsupported(said, "en", Evidence(held, today), NOTHING)) == found


def test_a_sentence_keeps_its_citations() -> None:
    answer = "Con Stripe. [1] Y en 20 minutos [2][3].\n- Uno [1]\n- Dos\n\n> Cita [2]\n> — Título"
    assert [(s.text.rstrip(" ."), s.cited, s.item) for s in sentences(answer)] == [
        ("Con Stripe", (1,), False),
        ("Y en 20 minutos", (2, 3), False),
        ("Uno", (1,), True),
        ("Dos", (), True),
        ("Cita", (2,), False),
        ("— Título", (), False),
    ]


@pytest.mark.parametrize(
    "text", ["e.g. Next.js is one.", "versión 15.3 en 1.1 s", "Node.js 20 con Fastify"]
)
def test_a_full_stop_inside_a_word_ends_nothing(text: str) -> None:
    assert len(list(sentences(text))) == 1


def verdicts(answer: str, lang: str = "en", asked: str = "") -> list[str]:
    passages = {1: (evidence(SHOP), "en"), 2: (evidence(JOB), "es")}
    found = citations(list(sentences(answer)), lang, passages, evidence(asked))
    return [citation.verdict for citation in found]


@pytest.mark.parametrize(
    ("answer", "lang", "found"),
    [
        ("It takes Stripe [1].", "en", ["supported"]),
        ("Cobra con Stripe [1].", "es", ["supported"]),
        ("It takes Stripe [2].", "en", ["wrong"]),
        ("It takes Stripe [7].", "en", ["wrong"]),
        ("It takes Stripe and Bizum [1].", "en", ["wrong"]),
        ("It takes Stripe, and Metrimex is a client [1][2].", "en", ["supported", "supported"]),
        ("It takes Stripe [1][2].", "en", ["supported", "wrong"]),
        ("Customers may send a garment back [1].", "en", ["supported"]),
        ("Lighthouses were painted by sailors in winter [1].", "en", ["wrong"]),
        ("Los clientes devuelven la prenda [1].", "es", ["undecided"]),
        ("Two things are named: Stripe and PostgreSQL [1].", "en", ["supported"]),
        ("It takes Stripe.", "en", []),
    ],
)
def test_citations(answer: str, lang: str, found: list[str]) -> None:
    assert verdicts(answer, lang) == found


def test_a_name_from_the_question_is_no_support() -> None:
    assert verdicts("Metrimex takes Stripe [2].", asked="Does Metrimex take Stripe?") == [
        "undecided"
    ]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("They overlap by 2 years 9 months [1][2].", ["supported", "supported"]),
        ("Together it was 4 years 4 months [1][2].", ["supported", "supported"]),
        ("They overlap by 2 years 9 months [1].", ["wrong"]),
        ("They overlap by 2 years 9 months [1][2][3].", ["supported", "supported", "wrong"]),
        ("They overlap by 3 years 5 months [1][2].", ["wrong", "wrong"]),
    ],
)
def test_a_length_may_follow_from_the_ranges_of_all_cited_passages(
    answer: str, found: list[str]
) -> None:
    jobs = ("Orballo, Mar 2018 – Dec 2020.", "Pistilo, Sep 2016 – Nov 2020.", "Nothing dated.")
    passages = {n: (evidence(job), "en") for n, job in enumerate(jobs, start=1)}
    judged = citations(list(sentences(answer)), "en", passages, NOTHING)
    assert [citation.verdict for citation in judged] == found


class OnePage:
    """An index of one page with dated entries, as IndexContent reads it."""

    def __init__(self, *entries: tuple[SectionKind, str]) -> None:
        document = Document(path="docs/cv.md", kind="doc", title="CV", url="/cv", lang="en")
        chunks = [
            Chunk(heading=text, anchor="", text=text, ordinal=n, section=kind,
                  spans=tuple(replace(span, entry=text) for span in find_spans(text)))
            for n, (kind, text) in enumerate(entries)
        ]  # fmt: skip
        passages = [Passage(chunk_id=n, document=document, chunk=c) for n, c in enumerate(chunks)]
        page = passage.Page(document=document, passages=tuple(passages), ordinal=0, tokens=1)
        self.pages = (page,)

    def page_of(self, chunk_id: int) -> passage.Page:
        return self.pages[0]


def test_the_entries_of_a_section_are_added_up() -> None:
    first = "Jan 2020 – Dec 2020"
    index = OnePage(("experience", first), ("experience", "Jan 2022 – Jun 2022"),
                    ("education", "Jan 2010 – Dec 2013"))  # fmt: skip
    content = IndexContent(cast(Index, index))
    read = content.read(shown(title="CV", section=first, url="/cv", quote=""))
    for said, found in (
        ("18 months", 0),
        ("66 months", 0),
        ("60 months", 1),
        ("12 to 18 months", 0),
    ):
        answer = list(sentences(f"It adds up to {said}."))
        assert len(unsupported(answer, "en", Evidence(read, TODAY), NOTHING)) == found, said


def shown(**fields: object) -> Shown:
    given = {"n": 1, "title": "Shop", "section": "Stack", "url": "/posts/shop#stack", "lang": "en",
             "quote": "Payments by card."}  # fmt: skip
    return Shown(**(given | fields))  # type: ignore[arg-type]


def test_the_index_gives_the_whole_passage_and_its_page(tmp_path: Path) -> None:
    first = Part("Payments by card. Stripe handles them.", heading="Stack", anchor="stack")
    second = Part("Hosted by Hetzner.", heading="Stack", anchor="stack")
    small_index(tmp_path, Page("posts/shop.md", (first, second), title="Shop")).close()
    index = open_index(tmp_path)
    content = IndexContent(index)
    cited = content.cited(shown()).text
    assert "Stripe" in cited
    assert "Hetzner" not in cited, "the quote tells the passages of one section apart"
    assert "Hetzner" in "".join(text.text for text in content.read(shown()))
    assert content.strangers == 0
    index.close()


def test_a_passage_the_index_does_not_hold_is_counted(tmp_path: Path) -> None:
    small_index(tmp_path, Page("posts/other.md", (Part("Text."),), title="Other")).close()
    index = open_index(tmp_path)
    content = IndexContent(index)
    assert "Payments by card." in content.cited(shown()).text
    assert content.strangers == 1
    index.close()


def test_without_an_index_the_quotes_are_all_there_is() -> None:
    content = QuoteContent()
    assert "Payments by card." in content.cited(shown()).text
    assert content.addresses() is None


def test_every_kind_of_claim_is_found() -> None:
    text = (
        "Ask Marea at hola@marea.example or marea.example.com: «tres palabras o más», 24 months, 7 users, "
        "5 May 2023, 21:00, in August, on Monday."
    )
    assert {claim.kind for claim in claims(text, "en")} == {
        "name", "email", "url", "quotation", "length", "number", "date", "time", "month", "weekday",
    }  # fmt: skip
