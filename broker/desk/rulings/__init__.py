"""Rulings at the desk: choose, see whom it moves, publish, take back; and what would be under other rules."""
