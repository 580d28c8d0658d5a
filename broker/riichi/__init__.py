"""Riichi for people and scripts: the command, the points table, real records checked."""
