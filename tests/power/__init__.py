"""Simulated power cuts while real processes write: the real programs open every state that the disk may be left in."""
