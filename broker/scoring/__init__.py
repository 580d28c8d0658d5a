"""From points to IMPs and places: pure and exact."""
