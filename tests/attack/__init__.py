"""Attack a running scorer, its broker and its desk: `make attack`, and a part of it in `make test-slow`."""
