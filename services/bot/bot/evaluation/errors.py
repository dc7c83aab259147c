"""What can be wrong with the files an evaluation is given."""

from __future__ import annotations


class EvaluationError(Exception):
    """One line for the owner: the file, the question's id where there is one, and the cure."""
