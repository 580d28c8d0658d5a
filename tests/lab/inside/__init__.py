"""Programs that run in the laboratory's machines, with Debian's Python and nothing else."""
