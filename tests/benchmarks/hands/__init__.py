"""How quick and how sturdy the things on the table are: `make bench-hands`."""
