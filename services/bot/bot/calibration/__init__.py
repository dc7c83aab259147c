"""Fit the gate to an owner's own content and embedder: `chat-bot calibrate` (docs/calibration.md)."""
