"""Jobs and their dates, answered from the index without a model: where, when, how long, before what."""

from bot.chat.work_history.answer import WorkAnswer, answer
from bot.chat.work_history.entries import Entry, entries
from bot.chat.work_history.questions import WorkQuestion, read

__all__ = ["Entry", "WorkAnswer", "WorkQuestion", "answer", "entries", "read"]
