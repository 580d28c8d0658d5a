"""Records of plays (PMN), and results for other programs: written, read, and judged by the referee."""
