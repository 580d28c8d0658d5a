"""The laboratory: tables without hardware, as machines of their own with a real kernel, systemd and packages."""
