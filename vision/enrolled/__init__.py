"""Enrolled sets: each tile's own picture, taken once, against which its later reads are checked."""
