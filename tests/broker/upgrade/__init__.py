"""Bundles, slots, and what starts them."""
