"""The measurements of `make bench-scorer`."""
