"""Cameras, what they see over time, and what helps people to mount them and to see what was read."""
