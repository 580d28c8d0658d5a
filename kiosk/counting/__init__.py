"""A winner's hand counted from the backs of its tiles: what lies there, what is asked, what the scorer answers."""
