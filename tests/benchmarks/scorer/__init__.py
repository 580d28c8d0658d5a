"""What `make bench-scorer` measures."""
