"""The camera over the table: a thread that looks, what it reports, and the picture with its overlay."""
