"""Where each tile lies, where it belongs, and the fewest moves from the one to the other. Pure."""
