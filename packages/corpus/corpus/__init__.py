"""The contract between indexer and bot: what an index is, how it is written and read.

Nothing here serves requests or walks content folders: the indexer writes through `corpus.writer`,
the bot reads through `corpus.reader`, and both agree on the settings, the text normalisation and
the byte format documented in docs/corpus-format.md.
"""
