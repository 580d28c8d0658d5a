"""Pictures of kinds for which the reader was not trained: other drawing code, other fonts, other tables."""
