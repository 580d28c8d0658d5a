"""A simulated table, and simulated cameras."""
