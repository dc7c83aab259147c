"""Turn folders of Markdown into a published search index: one run, one JSON line, one exit code.

The data flows discover -> decode -> frontmatter -> metadata -> (mdx, directives) -> sections ->
chunk -> reuse -> embed -> publish; `indexer.job` is the only module that knows the whole way.
"""
