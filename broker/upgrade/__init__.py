"""Upgrades of the tables' program: signed bundles, and slots from which a version is started or reverted."""
