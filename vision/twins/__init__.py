"""Twins of what lies on a table, and of the camera that looks at it."""
