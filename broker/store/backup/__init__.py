"""Copies of a whole event on another disk, and the way back."""
