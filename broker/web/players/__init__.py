"""Pages on which players are checked in at the door, and who plays is changed."""
