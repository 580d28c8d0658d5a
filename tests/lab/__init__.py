"""The laboratory: simulated tables, each on its own machine with a real kernel, systemd and packages."""
