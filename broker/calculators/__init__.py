"""Rules and scoring as commands: JSON lines in, JSON lines out."""
