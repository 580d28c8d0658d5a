"""Messages in, standings out; the store."""
