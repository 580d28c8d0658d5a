"""The room's memory: one event's journal, in SQLite or PostgreSQL, and copies of it."""
