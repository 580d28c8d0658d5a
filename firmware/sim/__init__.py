"""Simulated devices, selected by address: they behave, bounce and fail like real ones."""
