"""Numbers as texts write them: `1.350`, `1,350` and `1350`; `two` and `dos`; `4 million`."""

from __future__ import annotations

import re
from decimal import Decimal

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
SMALL = (
    "one un una uno", "two dos both ambos ambas", "three tres", "four cuatro", "five cinco", "six seis",
    "seven siete", "eight ocho", "nine nueve", "ten diez", "eleven once", "twelve doce dozen docena",
    "thirteen trece", "fourteen catorce", "fifteen quince", "sixteen dieciseis",
    "seventeen diecisiete", "eighteen dieciocho", "nineteen diecinueve", "twenty veinte",
)  # fmt: skip
TENS = {
    20: "twenty veinte", 30: "thirty treinta", 40: "forty cuarenta", 50: "fifty cincuenta",
    60: "sixty sesenta", 70: "seventy setenta", 80: "eighty ochenta", 90: "ninety noventa",
    100: "hundred cien ciento",
}  # fmt: skip
NUMBER_WORDS = {word: n for n, names in enumerate(SMALL, 1) for word in names.split()} | {
    word: n for n, names in TENS.items() for word in names.split()
}
NUMBER_WORDS |= {f"veinti{names.split()[-1]}": 20 + n for n, names in enumerate(SMALL[:9], 1)}
ORDINAL_WORDS = {
    word: n
    for n, names in enumerate(
        ("first primero primera primer", "second segundo segunda", "third tercero tercera tercer",
         "fourth cuarto cuarta", "fifth quinto quinta", "sixth sexto sexta", "seventh septimo septima",
         "eighth octavo octava", "ninth noveno novena", "tenth decimo decima"), 1)
    for word in names.split()
}  # fmt: skip
# `once` is an English adverb, `both` and `una` say no number that could be wrong by itself.
NOT_CHECKED = frozenset(
    "one un una uno once both ambos ambas hundred cien ciento dozen docena".split()
)
CHECKED_WORDS = frozenset(NUMBER_WORDS) - NOT_CHECKED
MULTIPLIERS = {
    word: factor
    for factor, names in (
        (1_000, "thousand mil k"), (1_000_000, "million millions millon millones"),
        (1_000_000_000, "billion billions"),
    )
    for word in names.split()
}  # fmt: skip
LONGEST_NUMBER = 40  # digits; a longer run is no number anybody counts with


def key(value: Decimal) -> str:
    """One spelling for equal numbers: `n1.5`, `n1350`."""
    text = format(value, "f")
    return "n" + (text.rstrip("0").rstrip(".") if "." in text else text)


def keys_of(text: str, factor: int = 1) -> tuple[str, ...]:
    """Every number that `text` (digits, points, commas) may mean: `1.355` is 1355, or 1.355.

    Nobody writes three decimals to end them in a zero, so `2,000` is two thousand only.
    """
    if len(text) > LONGEST_NUMBER:
        return (f"n{text}",)
    found = []
    if GROUPED.fullmatch(text):
        found.append(Decimal(re.sub("[.,]", "", text)))
    parts = re.split("[.,]", text)
    if len(parts) == 2 and not (found and text.endswith("0")):
        found.append(Decimal(".".join(parts)))
    elif len(parts) == 1:
        found.append(Decimal(text))
    elif len(set(re.findall("[.,]", text))) == 2:  # 1.234,5
        found.append(Decimal("".join(parts[:-1]) + "." + parts[-1]))
    return tuple(dict.fromkeys(key(value * factor) for value in found)) or (f"n{text}",)
