"""The command line: one file for each command, or for a few of one subject."""
