"""Blank sheets for results, and results keyed from them."""
