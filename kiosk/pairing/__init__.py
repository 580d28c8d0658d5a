"""Pairing: a device without a table sends a code to the desk and receives its configuration."""
