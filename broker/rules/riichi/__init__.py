"""Riichi, the second rule book: the value of a hand, and what it pays."""
