"""Paper sheets in the browser: print blank ones, key those that were filled in."""
