"""Enrolled sets: a picture of each tile, taken once, against which later reads are checked."""
