"""Attributes visitors ask for that a text either gives or does not: price, phone, address, age, pay, name.

Retrieval can't tell «how much does the shop cost?» from «how fast is the shop?»: the right page is found
for both. But a price needs a currency or a tariff, a phone number digits, so their absence is evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from corpus.text import fold


class Attribute(Struct, frozen=True, kw_only=True):
    """How an attribute is asked for, and how a text that gives it looks; both on folded text."""

    name: str
    asked: re.Pattern[str]
    given: re.Pattern[str]


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


PERSON = r"(?:personas?|soci[oa]s?|fundador\w*|duen[oa]s?|programador\w*|desarrollador\w*|mitad\w*|clientes?)"
ATTRIBUTES = (
    Attribute(
        name="price",
        asked=_any(
            r"\bcuanto (?:cuestan?|valen?|costo|cobra(?:s|is|n)?|pagaron|sale)\b",
            r"\b(?:precios?|tarifas?|presupuesto de|coste|honorarios)\b",
            r"\bhow much (?:does|do|did|is|are|would|will|money)\b",
            r"\b(?:prices?|priced|pricing|rates?|fees?|budget|costs?)\b",
        ),
        given=_any(
            r"[€$£]",
            r"\b(?:euros?|eur|usd|dolar(?:es)?|dollars?|pounds|gratis|gratuit[oa]s?)\b",
            r"\b(?:free of charge|for free|price[sd]?|precios?|tarifas?|fees?|quotes?)\b",
            r"\b(?:presupuestos?|cuestan?|costs?)\b",
        ),
    ),
    Attribute(
        name="phone",
        asked=_any(
            r"\b(?:telefonos?|movil de contacto|whatsapp|phone numbers?|telephone)\b",
            r"\b(?:call you|llamaros|llamarte)\b",
        ),
        given=_any(r"\+?\d[\d ()-]{6,}\d", r"\b(?:whatsapp|telefono|phone|calls?)\b"),
    ),
    Attribute(
        name="address",
        asked=_any(
            r"\bdireccion(?! de correo| de email)\b",
            r"\b(?:street|postal|office) address\b",
            r"\baddress of (?:your|the)\b",
            r"\b(?:domicilio|codigo postal|zip code)\b",
        ),
        given=_any(r"\b(?:calle|avenida|plaza|street|avenue|road|postcode)\b"),
    ),
    Attribute(
        name="age",
        asked=_any(
            r"\bque edad\b",
            r"\bcuantos anos (?:tienes|teneis|tiene)\b",
            r"\b(?:cumpleanos|cumple anos|birthday|date of birth|nacimiento|nacisteis|naciste)\b",
            r"\b(?:how old|were you born)\b",
        ),
        given=_any(
            r"\b\d+ (?:anos de edad|years? old)\b",
            r"\b(?:nacid[oa]|nacio|born|cumpleanos|birthday)\b",
        ),
    ),
    Attribute(
        name="pay",
        asked=_any(
            r"\b(?:sueldos?|salarios?|salary|salaries|wages?|earn(?:ed|s)?|nomina)\b",
            r"\bcuanto (?:ganais|ganas|ganan?|ganaba)\b",
            r"\b(?:income|turnover|revenue|facturacion|ingresos)\b",
        ),
        given=_any(
            r"\b(?:sueldos?|salarios?|salary|salaries|wages?|income|turnover|revenue)\b",
            r"\b(?:facturacion|facturamos|ingresos)\b",
        ),
    ),
    Attribute(
        name="person",
        asked=_any(
            r"\bcomo os llamais\b",
            rf"\bcomo se llaman? (?:las?|los|el|vuestr[oa]s?|tus?|sus?) {PERSON}\b",
            rf"\bnombres? de (?:las?|los|el|vuestr[oa]s?|tus?) {PERSON}\b",
            r"\b(?:vuestros nombres|your names?)\b",
            r"\bnames? of the (?:people|persons?|founders?|owners?|developers?|partners?|clients?|two)\b",
        ),
        given=_any(r"\b(?:my name is|me llamo|nos llamamos|our names)\b"),
    ),
)


def missing_attributes(question: str, passages: Iterable[str]) -> int:
    """How many attributes the question asks for that none of the passages gives."""
    asked = fold(question)
    wanted = [attribute for attribute in ATTRIBUTES if attribute.asked.search(asked)]
    if not wanted:
        return 0
    held = [fold(passage) for passage in passages]
    return sum(not any(a.given.search(text) for text in held) for a in wanted)
