"""How English asks about time and work: patterns on folded words joined by single blanks."""

from __future__ import annotations

_NOBODY = (
    r"(?:the|a|an|this|that|these|those|it|its|your|his|her|their|my|our|there|one|any|each|every|all"
    r"|some|users?|customers?|clients?|visitors?|people|data|logs?|orders?|sessions?|builds?|tests?)\b"
)
_TEAM = (
    r"the (?:team|studio|two|author|owner|founders?|developers?|engineers?|candidate"
    r"|(?:backend|frontend) half)"
)
_PRONOUN = r"(?:you|he|she|they|we|i)(?: (?:two|both|guys))?"
_WHO = rf"(?:(?:{_PRONOUN}|{_TEAM})\b(?: of you)?|(?!{_NOBODY})\w+(?: \w+)?)"
_OWN = r"(?:your|his|her|their|the|my|our)"
_HAS = r"(?:did|do|does|have|has|had|are|is|were|was|will)"
_ADVERBS = (
    r"(?:(?:been|ever|previously|currently|already|actually|really|before|now|also|both|even) )*"
)
_WORK = r"(?:work|worked|works|working|employed|freelanced?|freelancing)\b"
_CRAFT = (
    r"(?:cod(?:ed|ing)|programm(?:ed|ing)|develop(?:ed|ing)|us(?:ed|ing)|design(?:ed|ing)|doing)"
)
_JOB = (
    r"(?:jobs?|contract|employment|stint|internship|position|role|career|engagement|tenure"
    r"|traineeship)"
)
_STAY = rf"(?:time|stay|work|{_JOB})"
_COMPANIES = (
    r"(?:companies|company|firms?|employers?|organi[sz]ations?|businesses|agencies|startups?)"
)
_HOW_LONG = r"how (?:long|many (?:years|months|weeks)|much time)"
_STUDY = (
    r"(?:study|studied|studying|graduated?|go to (?:university|college|school)"
    rf"|(?:(?:get|take|finish) )?{_OWN} (?:degree|studies)(?: take| last)?)\b"
)
_NOT_YEARS = (  # years of these are nobody's experience
    r"(?!(?:warranty|guarantee|support|maintenance|data|history|age|logs?|readings|prison)\b)"
)

EDUCATION: dict[str, tuple[str, ...]] = {
    "how-long": (rf"\b{_HOW_LONG} (?:{_HAS} )?(?:{_WHO} )?{_ADVERBS}{_STUDY}",),
    "since-when": (rf"\bwhen {_HAS} {_WHO} {_ADVERBS}(?:finish |complete |start |get )?{_STUDY}",),
    "where": (
        rf"\b(?:where|(?:which|what) (?:university|college|school)) {_HAS} {_WHO} {_ADVERBS}{_STUDY}",
    ),
}
EXPERIENCE: dict[str, tuple[str, ...]] = {
    "years-of": (
        r"\b(?:years|months) of (?:\w+ ){0,3}?experience\b",
        r"\bhow much (?:\w+ )?experience\b",
        rf"\bhow many years of {_NOT_YEARS}\w+(?: \w+){{0,3}} (?:do|does|have|has) {_WHO}",
        rf"\bhow many years of {_NOT_YEARS}\w+$",
    ),
    "until-when": (
        rf"\b(?:until|till|to) when\b.*\b{_WORK}",
        rf"\b{_WORK}.*\b(?:until|till) when\b",
        rf"\bwhen did {_WHO} (?:leave|quit|stop {_WORK}|finish (?:at|{_WORK}))",
        rf"\bwhen did {_OWN} (?:\w+ )?{_JOB}(?: \w+){{0,3}} (?:end|finish)\b",
    ),
    "since-when": (
        rf"\b(?:since|from) (?:when|(?:what|which) (?:year|month|date)) {_HAS} "
        rf"(?:{_PRONOUN}|{_WHO} {_ADVERBS}(?:{_WORK}|{_CRAFT}|at|with))\b",
        rf"\b(?:when|(?:what|which) year) did {_WHO} (?:join|become an?"
        rf"|get (?:hired|{_OWN} (?:first )?job)"
        rf"|(?:start|begin) (?:{_WORK}|{_CRAFT}|to (?:work|code|program)|at|as|with|{_OWN} {_JOB}))\b",
        rf"\bwhen (?:was|were) {_WHO} hired\b",
    ),
    "which-companies": (
        rf"\b(?:which|what|how many) (?:other |different )?{_COMPANIES}(?: \w+){{0,4}} {_WORK}",
        rf"\b(?:which|what) {_COMPANIES} {_HAS} {_PRONOUN} been (?:at|with|in)\b",
        rf"\b(?:list|names?) of (?:all )?(?:{_OWN} )?(?:\w+ )?"
        rf"(?:employers|{_COMPANIES} (?:where|that|you|he|she|they))\b",
        rf"\b{_COMPANIES} (?:where |that |which )?{_WHO} (?:have |has |had )?{_ADVERBS}{_WORK}",
        r"\b(?:your|his|her|their|former|previous|past|last|current) employers?\b",
    ),
    "where": (
        rf"\bwhere (?:else )?{_HAS} {_WHO} {_ADVERBS}{_WORK}(?! (?:from|remotely))",
        rf"\b(?:who|whom) (?:else )?{_HAS} {_WHO} {_ADVERBS}{_WORK} for\b",
        rf"\bfor (?:who|whom) {_HAS} {_WHO} {_ADVERBS}{_WORK}",
        r"\b(?:previous|former|past|earlier|prior) (?:jobs?|workplaces?|positions?|roles?)\b",
        r"\b(?:last|first|current|latest|most recent) (?:jobs?|workplace|employment)\b",
        r"\b(?:work|job|employment|career|professional) (?:history|experience|background)\b",
    ),
    "how-long": (
        rf"\b{_HOW_LONG} {_HAS} {_WHO} {_ADVERBS}"
        rf"(?:{_WORK}|(?:stay|stayed|last|remain) (?:at|with|in)\b|spen[dt] (?:at|with|in|{_WORK}))",
        rf"\b{_HOW_LONG} (?:have|has|had) {_PRONOUN} {_ADVERBS}(?:at|with|in|as|an?|{_CRAFT}|known|had)\b",
        rf"\b{_HOW_LONG} (?:have|has|had|was|were|is|are) {_WHO} {_ADVERBS}"
        rf"(?:at|with|{_CRAFT}|an? \w+(?:er|or|ist|ant))\b",
        rf"\b{_HOW_LONG} (?:was|is|were|did) {_OWN} (?:\w+ )?{_STAY} (?:at|with|in|as|there|last)\b",
        rf"\b{_HOW_LONG} (?:was|is|did) {_OWN} (?:\w+ )?{_JOB}(?: \w+){{0,4}} last\b",
        rf"\b(?:duration|length) of {_OWN} (?:\w+ )?{_STAY} (?:at|with|in|as)\b",
    ),
}
