"""Units of both languages under one name each: `6 months`, `seis meses`; `1.1 GB`, `1,1 gigabytes`."""

from __future__ import annotations

NAMES = {
    "year": "year years yr yrs ano anos", "month": "month months mes meses",
    "week": "week weeks semana semanas", "day": "day days dia dias", "hour": "hour hours hora horas h",
    "minute": "minute minutes minuto minutos min mins", "second": "second seconds segundo segundos s sec",
    "ms": "ms millisecond milliseconds milisegundo milisegundos",
    "us": "µs μs us microsecond microseconds microsegundo microsegundos",
    "kb": "kb kilobyte kilobytes", "mb": "mb megabyte megabytes megas",
    "gb": "gb gigabyte gigabytes gigas", "tb": "tb terabyte terabytes",
    "px": "px pixel pixels pixeles", "mm": "mm millimetre millimetres milimetro milimetros",
    "cm": "cm centimetre centimetres centimeters centimetro centimetros",
    "km": "km kilometre kilometres kilometers kilometro kilometros",
    "m": "m metre metres meter meters metro metros", "watt": "w watt watts vatio vatios",
    "percent": "% percent", "eur": "€ euro euros eur", "usd": "$ usd dollar dollars dolar dolares",
    "gbp": "£ pound pounds libra libras",
    "am": "am", "pm": "pm",
}  # fmt: skip
UNITS = {word: unit for unit, names in NAMES.items() for word in names.split()}
