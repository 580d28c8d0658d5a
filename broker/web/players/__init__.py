"""Pages for checking players in at the door and for changing who plays."""
