"""What the gate would see of each question: the bot's own search, without the bot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.calibration.fitting import Floats
from bot.chat.gate import FEATURES, features
from bot.chat.search import search
from bot.chat.time_questions import time_question
from corpus.language import detect_language
from corpus.reader import Index
from corpus.settings import RagSettings
from corpus.vectors import Vector


def measure(
    index: Index,
    questions: Sequence[str],
    vectors: Sequence[Vector | None],
    settings: RagSettings,
) -> Floats:
    """One row of features for each question; a vector of None searches by keywords only."""
    rows = np.zeros((len(questions), len(FEATURES)))
    for row, (question, vector) in enumerate(zip(questions, vectors, strict=True)):
        language = detect_language(question) or settings.default_language
        asked = time_question(question)
        found = search(index, question, vector, settings, language, asked.kind if asked else None)
        rows[row] = features(found)
    return rows
