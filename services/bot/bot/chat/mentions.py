"""Technologies a question names and the site does not: no passage can say anything about them.

Of 170 answerable questions of the sample site's dev half none names one that the index does not hold;
of 76 near ones 30 do. So it decides alone where the gate's other figures are good: «is rony-tui written
in Kotlin?» finds the right page.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.chat.names import TECHNOLOGIES
from corpus.text import aliases, fold, words

TOKEN = re.compile(r"[^\W_][\w.+#-]*")
# Words of either language too: they name a technology only where they have a capital letter and no
# sentence starts with them.
COMMON_WORDS = frozenset(
    "apple bootstrap bun capacitor claude ember excel express flask gemini groovy hugo ionic jest julia "
    "lambda notion oracle pandas pascal playwright postman rails raspberry remix ruby rust selenium sentry "
    "slack snowflake solid spring swift unity unreal windows".split()
)
# One of these words on the site is enough to speak of all of them.
RELATED: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        "postgres postgresql", "golang go", "k8s kubernetes", "vue vuejs", "solid solidjs", "mongo mongodb",
        "javascript js nodejs", "typescript ts", "ruby rails", "react redux", "openai chatgpt gpt",
        "apple ios macos iphone ipad mac", "linux ubuntu debian", "aws amazon lambda", "twitter x",
        "sqlite sql", "python pytest django flask fastapi", "csharp dotnet fsharp", "excel xlsx",
    )
)  # fmt: skip


def technologies(question: str) -> dict[str, frozenset[str]]:
    """The technologies a question names, as written, each with the words a page may call it by."""
    found: dict[str, frozenset[str]] = {}
    for match in TOKEN.finditer(question):
        spelt = match[0].rstrip(".-")
        names = {fold(spelt), *words(spelt), *aliases(spelt)} & TECHNOLOGIES
        if names <= COMMON_WORDS and not (match.start() and spelt[0].isupper()):
            continue
        if names:
            related = (group for group in RELATED if group & names)
            found[spelt] = frozenset(names).union(*related)
    return found


def unmentioned(question: str, holds: Callable[[str], bool]) -> tuple[str, ...]:
    """Technologies of the question that the site names by none of their words, as the visitor wrote them."""
    named = technologies(question)
    return tuple(spelt for spelt, known_as in named.items() if not any(map(holds, known_as)))
