"""Labels for tile backs: the registry of serials and faces, sheets to print, and checking that a set is complete."""
