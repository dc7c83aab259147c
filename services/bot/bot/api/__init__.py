"""HTTP face of the bot; the only place that imports litestar."""
