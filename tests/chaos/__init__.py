"""Whole events with real processes, in which everything fails: `make chaos` (docs/store.md)."""
