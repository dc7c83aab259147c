"""What stands between the model's text and the visitor; pure, streaming, without a second model."""
