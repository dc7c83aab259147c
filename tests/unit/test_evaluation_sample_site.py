"""The independent check on the whole sample site: no false alarm on a page's own sentences."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from bot.evaluation.claims import Claim, claims
from bot.evaluation.evidence import Evidence, Text
from bot.evaluation.sentences import sentences
from tests.sample_site import DOCUMENTS, split

TODAY = date(2026, 11, 30)


def stated(path: Path) -> list[Claim]:
    """Everything that can be looked up in a document's text."""
    meta, text = split(path)
    return [claim for said in sentences(text) for claim in claims(said.text, meta["lang"])]


def held_by(path: Path) -> Evidence:
    return Evidence([Text(text=split(path)[1])], TODAY)


def test_every_page_supports_its_own_sentences() -> None:
    alarms = {
        path.name: [
            claim.said
            for held in [held_by(path)]
            for claim in stated(path)
            if not held.holds(claim)
        ]
        for path in DOCUMENTS
    }
    assert {name: said for name, said in alarms.items() if said} == {}


def test_another_page_does_not_support_them() -> None:
    """Some facts stand on both: names of languages and tools, years, small numbers."""
    every = found = 0
    for path, other in zip(DOCUMENTS, [*DOCUMENTS[7:], *DOCUMENTS[:7]], strict=True):
        evidence = held_by(other)
        said = stated(path)
        every += len(said)
        found += sum(not evidence.holds(claim) for claim in said)
    assert every > 500
    assert found > 0.7 * every, f"{found} of {every}"
