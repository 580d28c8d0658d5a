"""What runs in a machine of the laboratory, on Debian's Python and nothing else."""
