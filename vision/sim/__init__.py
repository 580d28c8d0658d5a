"""A simulated table, and the camera that looks at it."""
