"""A new event's folder, and whether it may start."""
