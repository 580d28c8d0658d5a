"""Cards for staff and players: one page each to print and laminate, with pictures drawn by the screens."""
