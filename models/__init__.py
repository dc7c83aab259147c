"""The models the site answers with: what to download, from where, and how it is checked."""
