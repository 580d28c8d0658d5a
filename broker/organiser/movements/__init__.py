"""Movements: made, checked, repaired; CSV, plans and cards."""
