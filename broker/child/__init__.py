"""A broker as a child process: settings, health check, and a leash so that it never outlives us."""
