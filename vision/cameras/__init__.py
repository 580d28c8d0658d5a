"""Cameras: drivers, addresses, and a feed of the newest frames."""
