"""The camera over the table: its thread, its observations, and the picture with its overlay."""
