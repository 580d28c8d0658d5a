"""One table's program."""
