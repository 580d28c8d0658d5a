"""A whole event on one machine, over real parts."""
