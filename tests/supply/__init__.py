"""What the program is made of, and whether faults of it are known: `make sbom`, `make audit`."""
