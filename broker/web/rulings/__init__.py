"""Rulings in the browser: enter one, preview whom it moves, publish it, withdraw it."""
