"""Mosquitto: as a child process of ours, and its configuration for a hall."""
