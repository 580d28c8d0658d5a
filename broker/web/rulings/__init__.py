"""Rulings in the browser: enter one, preview whom it affects, publish it, withdraw it."""
