"""Watch a table over time: detect motion, combine frames, and remember tiles that a hand covers."""
