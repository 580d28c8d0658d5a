"""Deals and tile sets: made, committed to, printed, revealed."""
