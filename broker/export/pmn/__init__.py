"""Records of plays in Portable Majiang Notation (PMN): reading, writing and checking."""
