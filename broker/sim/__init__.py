"""Simulated players and the demo: whole events on one machine."""
