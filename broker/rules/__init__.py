"""Tiles, deals, points and profiles: pure, exact, no clock."""
