"""A practice table: the real program with a simulated scorer, and keys and a mouse as buttons."""
