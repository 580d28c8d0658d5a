"""Rulings: what arbiters have decided, laid over what the tables said. Pure, but for `asked.py`."""
