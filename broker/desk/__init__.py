"""The head arbiter's web page."""
