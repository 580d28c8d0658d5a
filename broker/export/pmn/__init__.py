"""Records of plays in Portable Majiang Notation: read, written and checked."""
