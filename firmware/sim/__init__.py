"""Simulated devices: they behave, bounce and fail like the real ones, and are chosen by their address."""
