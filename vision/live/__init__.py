"""Watch a table over time: motion, agreement of frames, and what lies under a hand."""
