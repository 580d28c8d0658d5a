"""How a camera is mounted, measured from one picture and the tiles' outlines in it: pure functions, one a file."""
