"""The referee: whose turn it is, what may be declared, when the last tile of the wall is reached."""
