"""One page each for staff and players, to be printed and laminated, with pictures that the screens draw."""
