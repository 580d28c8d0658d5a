"""Marks: what stands on a tile's back, printed digits or a label."""
