"""Measure a running bot with labelled questions: `chat-bot eval`, method in docs/evaluation.md."""
