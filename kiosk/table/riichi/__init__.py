"""A table that plays riichi: hand after hand, with the session's score."""
