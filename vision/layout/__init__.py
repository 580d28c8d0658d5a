"""From tiles and what they say to where they lie: seat, row and column, and what each place of a tray holds."""
