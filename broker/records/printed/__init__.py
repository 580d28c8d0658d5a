"""Standings and travellers on paper."""
