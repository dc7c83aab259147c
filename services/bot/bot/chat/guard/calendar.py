"""Months and weekdays of both languages, as numbers."""

from __future__ import annotations

MONTH_NAMES = (
    "january enero jan ene", "february febrero feb", "march marzo mar", "april abril apr abr",
    "may mayo", "june junio jun", "july julio jul", "august agosto aug ago",
    "september septiembre setiembre sep sept", "october octubre oct",
    "november noviembre nov", "december diciembre dec dic",
)  # fmt: skip
DAY_NAMES = (
    "monday mondays lunes", "tuesday tuesdays martes", "wednesday wednesdays miercoles",
    "thursday thursdays jueves", "friday fridays viernes", "saturday saturdays sabado sabados",
    "sunday sundays domingo domingos",
)  # fmt: skip
MONTHS = {word: n for n, names in enumerate(MONTH_NAMES, 1) for word in names.split()}
DAYS = {word: n for n, names in enumerate(DAY_NAMES, 1) for word in names.split()}
# Words of the calendar only with a capital letter (`May`, `Mar 2018`), or never otherwise: `ago`
# and `mar` are words of their own.
AMBIGUOUS = frozenset(
    "may march mar ago abr dec sep set jan ene jun jul feb apr aug oct nov dic sept".split()
)


def calendar_key(folded: str, *, capital: bool) -> str | None:
    """`m7` for a month, `w1` for a weekday, None for any other word."""
    if folded in MONTHS:
        return f"m{MONTHS[folded]}" if capital or folded not in AMBIGUOUS else None
    return f"w{DAYS[folded]}" if folded in DAYS else None


LOWER_CASE = frozenset(word for word in (*MONTHS, *DAYS) if word not in AMBIGUOUS)
"""Names that are dates without a capital letter, too, as Spanish writes them."""
