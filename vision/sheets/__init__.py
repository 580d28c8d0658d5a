"""Labels for tile backs: which serial on which face, sheets to print, and whether a set is complete."""
