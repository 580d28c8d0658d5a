"""Marks: what stands on a tile's back, a printed number or a label."""
