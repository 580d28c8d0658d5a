"""A table to practise at: the real program with a simulated scorer, and keys and a mouse for buttons."""
