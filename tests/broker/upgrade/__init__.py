"""Upgrade bundles, slots and their launcher."""
