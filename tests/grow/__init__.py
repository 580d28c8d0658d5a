"""An event in three halls and its centre, in which everything between them fails."""
