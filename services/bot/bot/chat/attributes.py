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


MONEY = r"[€$£]|\b(?:euros?|eur|usd|dolar(?:es)?|dollars?|gratis|gratuit[oa]s?|free of charge|for free|pounds)\b"
ATTRIBUTES = (
    Attribute(
        name="price",
        asked=re.compile(
            r"\bcuanto (?:cuesta|cuestan|vale|valen|costo|cobra|cobras|cobrais|cobran|pagaron|sale)\b"
            r"|\b(?:precios?|tarifas?|presupuesto de|coste|honorarios)\b"
            r"|\bhow much (?:does|do|did|is|are|would|will|money)\b"
            r"|\b(?:prices?|priced|pricing|rates?|fees?|budget|costs?)\b"
        ),
        given=re.compile(MONEY + r"|\b(?:price[sd]?|precios?|tarifas?|fees?|quotes?|presupuestos?|cuesta|costs?)\b"),
    ),
    Attribute(
        name="phone",
        asked=re.compile(r"\b(?:telefonos?|movil de contacto|whatsapp|phone numbers?|telephone|call you|llamaros|llamarte)\b"),
        given=re.compile(r"\+?\d[\d ()-]{6,}\d|\b(?:whatsapp|telefono|phone|calls?)\b"),
    ),
    Attribute(
        name="address",
        asked=re.compile(
            r"\b(?:direccion(?! de correo)|street address|postal address|office address|domicilio)\b"
            r"|\baddress of (?:your|the)\b|\bcodigo postal\b|\bzip code\b"
        ),
        given=re.compile(r"\b(?:calle|avenida|plaza|street|avenue|road|postcode)\b"),
    ),
    Attribute(
        name="age",
        asked=re.compile(r"\b(?:que edad|cuantos anos tienes|cuantos anos teneis|cuantos anos tiene|cumpleanos|cumple anos|how old|birthday|date of birth|nacimiento|nacisteis|naciste|were you born)\b"),
        given=re.compile(r"\b\d+ (?:anos de edad|years old|year old)\b|\b(?:nacid[oa]|nacio|born|cumpleanos|birthday)\b"),
    ),
    Attribute(
        name="pay",
        asked=re.compile(r"\b(?:sueldos?|salarios?|salary|salaries|wages?|earn(?:ed|s)?|cuanto ganais|cuanto ganas|cuanto gana|cuanto ganaba|nomina|income|turnover|revenue|facturacion|ingresos)\b"),
        given=re.compile(r"\b(?:sueldos?|salarios?|salary|salaries|wages?|income|turnover|revenue|facturacion|facturamos|ingresos)\b"),
    ),
    Attribute(
        name="person",
        asked=re.compile(
            r"\b(?:como os llamais|como se llaman? (?:las?|los|el|vuestr[oa]s?|tus?|sus?) (?:personas?|socias?|socios?|fundador\w*|duen[oa]s?|programador\w*|mitad\w*|desarrollador\w*)"
            r"|nombres? de (?:las|los|el|la|vuestr[oa]s?|tus?) (?:personas?|socias?|socios?|fundador\w*|duen[oa]s?|programador\w*|desarrollador\w*|cliente|clienta)"
            r"|vuestros nombres|your names?|names? of the (?:people|persons?|founders?|owners?|developers?|partners?|clients?|two))\b"
        ),
        given=re.compile(r"\b(?:my name is|me llamo|nos llamamos|our names)\b"),
    ),
)  # fmt: skip


def missing_attributes(question: str, passages: Iterable[str]) -> int:
    """How many attributes the question asks for that none of the passages gives."""
    asked = fold(question)
    wanted = [attribute for attribute in ATTRIBUTES if attribute.asked.search(asked)]
    if not wanted:
        return 0
    held = [fold(passage) for passage in passages]
    return sum(not any(a.given.search(text) for text in held) for a in wanted)
