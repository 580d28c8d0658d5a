"""Twins of the devices: they behave, bounce and fail like the thing, and are chosen by configuration."""
