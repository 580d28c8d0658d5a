"""Counting a winner's hand from the backs of its tiles: the tiles, the questions, the scorer's answers."""
