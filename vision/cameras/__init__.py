"""Cameras: drivers, addresses, and the feed of newest frames."""
