"""Citations `[n]` in a streamed answer: known numbers pass, others are dropped, links never pass.

Works on pieces of any size: what might become a citation or a link is held back until it is one.
Links come from the index, never from the model (Onyx #1543: citations of sources that do not exist).
"""

from __future__ import annotations

import re

MARK = re.compile(r"\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]")
LINK = re.compile(r"!?\[([^\[\]\n]*)\]\(\s*([^()\s]*)[^()\n]*\)")
ADDRESS = re.compile(r"https?://[^\s<>\"')\]]+")
OPEN = re.compile(r"!?\[[^\[\]\n]{0,160}$")
OPEN_LINK = re.compile(r"!?\[[^\[\]\n]*\](?:\([^()\n]{0,400})?$")
OPEN_ADDRESS = re.compile(
    r"(?<!\w)(?:h|ht|htt|https?|https?:|https?:/|https?://[^\s<>\"')\]]{0,400})$"
)
MOST_NUMBERS = 20


class CitationFilter:
    """Feed pieces of the model's text, get pieces that may be shown."""

    def __init__(self, passages: int, evidence: str) -> None:
        """`passages`: how many there are; `evidence`: their text, in which an address must stand."""
        self._passages = passages
        self._evidence = evidence
        self._held = ""
        self.cited: set[int] = set()
        """Numbers that went through so far."""

    def feed(self, text: str) -> str:
        """Text that is now certain."""
        self._held += text
        cut = len(self._held)
        for pattern in (OPEN_LINK, OPEN, OPEN_ADDRESS):
            if match := pattern.search(self._held):
                cut = min(cut, match.start())
        # A blank before a citation that will be dropped must go with it.
        while cut and cut < len(self._held) and self._held[cut - 1] == " ":
            cut -= 1
        ready, self._held = self._held[:cut], self._held[cut:]
        return self._settle(ready)

    def close(self) -> str:
        """The rest; an unfinished citation or link is dropped."""
        rest, self._held = self._held, ""
        return self._settle(re.sub(r"\s*\[\s*\d[\d\s,;–-]*$", "", rest))

    def _settle(self, text: str) -> str:
        text = LINK.sub(self._link, text)
        text = ADDRESS.sub(self._address, text)
        return re.sub(r"[ \t]*" + MARK.pattern, self._mark, text)

    def _mark(self, match: re.Match[str]) -> str:
        numbers: list[int] = []
        for part in re.split(r"[,;]", match[0].strip(" \t[]")):
            ends = [int(n) for n in re.findall(r"\d{1,6}", part)]
            if len(ends) == 2 and ends[0] <= ends[1] < ends[0] + MOST_NUMBERS:
                numbers.extend(range(ends[0], ends[1] + 1))
            else:
                numbers.extend(ends)
        known = [n for n in dict.fromkeys(numbers) if 1 <= n <= self._passages]
        self.cited.update(known)
        blank = match[0][: len(match[0]) - len(match[0].lstrip())]
        return blank + "".join(f"[{n}]" for n in known) if known else ""

    def _link(self, match: re.Match[str]) -> str:
        label = match[1]
        if label.strip().isdigit():
            return f"[{label.strip()}]"
        return label

    def _address(self, match: re.Match[str]) -> str:
        return match[0] if match[0].rstrip(".,;:!?") in self._evidence else ""
