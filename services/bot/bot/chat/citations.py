"""Citations `[n]` in a streamed answer: known numbers pass, others are dropped, links never pass.

Works on pieces of any size and gives the same text for all of them: what might become a citation or
a link is held back until it is one. Every pattern has a longest form, so that the wait ends and the
work stays linear whatever a model writes.
Links come from the index, never from the model (Onyx #1543: citations of sources that do not exist).
"""

from __future__ import annotations

import re

BLANKS = r"(?P<{}>[ \t]{{0,4}})"
LABEL = r"!?\[(?P<label>[^\[\]\n]{0,160})\]"
IN_MARK = r"(?:[\d,;–-]|[^\S\n])"
ADDRESS_END = r"[^\s<>\"')\[\]!]"
ADDRESS = rf"(?:(?<!\w)https?)?://{ADDRESS_END}{{0,200}}"
NUMBERS = re.compile(r"\s*\d+(?:\s*[,;–-]\s*\d+)*\s*[,;–-]?\s*")
PATTERN = re.compile(
    rf"(?P<link>{BLANKS.format('lead')}{LABEL}\([^()\[\n]{{0,200}}\))"
    rf"|{BLANKS.format('blanks')}\[(?={IN_MARK}{{1,160}}\])"  # no citation is longer
    rf"(?P<numbers>{NUMBERS.pattern})\](?P<paren>\(?)"
    rf"|(?P<address>{ADDRESS})|(?P<endless>\[(?={IN_MARK}{{161}}))|\]\(",
    re.I,
)
IN_LABEL = re.compile(ADDRESS, re.I)
# What the end of the text so far may still become.
OPEN = (
    re.compile(r"!?\[[^\[\]\n]{0,160}$|!$"),
    re.compile(r"!?\[[^\[\]\n]{0,160}\](?:\([^()\[\n]{0,200})?$|\]$"),
    re.compile(rf"(?:(?<!\w)https?)?(?::/?|://{ADDRESS_END}{{0,200}})$", re.I),
    re.compile(r"(?<!\w)(?:h|ht|htt|https?)$", re.I),
    re.compile(r"[ \t]{1,4}$"),
)
LONGEST_OPEN = 400  # characters; more than any of the above can hold
UNFINISHED_MARK = re.compile(r"[ \t]{0,4}\[[^\S\n]*\d" + IN_MARK + "*$")
UNFINISHED_LINK = re.compile(LABEL + r"\([^()\[\n]*$")
MOST_NUMBERS = 20


class CitationFilter:
    """Feed pieces of the model's text, get pieces that may be shown."""

    def __init__(self, passages: int, evidence: str) -> None:
        """`passages`: how many there are; `evidence`: their text, in which an address must stand."""
        self._passages = passages
        self._evidence = evidence
        self._held = ""
        self._before = ""
        self.cited: set[int] = set()
        """Numbers that went through so far."""

    def feed(self, text: str) -> str:
        """Text that is now certain."""
        self._held += text
        return self._release(self._certain())

    def close(self) -> str:
        """The rest; an unfinished citation is dropped, of an unfinished link the label stays."""
        rest = UNFINISHED_MARK.sub("", self._held)
        self._held = UNFINISHED_LINK.sub(lambda link: self._label("", link["label"]), rest)
        return self._release(len(self._held))

    def _certain(self) -> int:
        """Where what is still open begins; `_before` serves the look-behind of an address."""
        start = max(0, len(self._held) - LONGEST_OPEN)
        tail = (self._held[start - 1] if start else self._before) + self._held[start:]
        shift = start - (len(tail) - (len(self._held) - start))
        cut = len(tail)
        for pattern in OPEN:
            if match := pattern.search(tail, len(tail) - (len(self._held) - start)):
                cut = min(cut, match.start())
        # The blanks before a citation that will be dropped must go with it.
        if cut < len(tail) and (blanks := OPEN[-1].search(tail[:cut])):
            cut = blanks.start()
        return max(0, cut + shift)

    def _release(self, end: int) -> str:
        known = len(self._before)
        whole = self._before + self._held[:end]
        self._held = self._held[end:]
        self._before = whole[-1:]
        pieces: list[str] = []
        position = known
        for match in PATTERN.finditer(whole, known):
            pieces += (whole[position : match.start()], self._settle(match))
            position = match.end()
        return "".join([*pieces, whole[position:]])

    def _settle(self, match: re.Match[str]) -> str:
        if match["link"] is not None:
            return self._label(match["lead"], match["label"])
        if match["numbers"] is not None:
            mark = self._mark(match["blanks"], match["numbers"])
            return f"{mark} (" if mark and match["paren"] else mark + match["paren"]
        if match["address"] is not None:
            return self._address(match[0])
        return "" if match["endless"] else "] ("

    def _label(self, blanks: str, label: str) -> str:
        """What is left of a link: a citation, or its words."""
        if NUMBERS.fullmatch(label):
            return self._mark(blanks, label)
        return blanks + IN_LABEL.sub(lambda found: self._address(found[0]), label)

    def _mark(self, blanks: str, text: str) -> str:
        numbers: list[int] = []
        for part in re.split(r"[,;]", text):
            ends = [int(n) for n in re.findall(r"\d+", part)]
            if len(ends) == 2 and ends[0] <= ends[1] < ends[0] + MOST_NUMBERS:
                numbers.extend(range(ends[0], ends[1] + 1))
            else:
                numbers.extend(ends)
        known = [n for n in dict.fromkeys(numbers) if 1 <= n <= self._passages]
        self.cited.update(known)
        return blanks + "".join(f"[{n}]" for n in known) if known else ""

    def _address(self, address: str) -> str:
        bare = address.rstrip(".,;:!?")
        known = bare in self._evidence and not bare.endswith("://")
        return address if known else address[len(bare) :]
