"""A table that plays riichi."""
