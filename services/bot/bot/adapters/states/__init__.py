"""Prompt states on disk: which server a state fits, the files, and the slot they are put into."""
