"""Result sheets on paper: print blank ones, key in those that were filled in."""
