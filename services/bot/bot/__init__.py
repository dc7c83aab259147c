"""The chatbot: `bot.chat` is the application, `bot.adapters` its outside, `bot.api` its HTTP face.

Imports go one way: bot.api -> bot.chat <- bot.adapters; only `bot.app` knows all three.
"""

__version__ = "0.1.0"
