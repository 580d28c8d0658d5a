"""The things on the table: hu buttons, lamps, scanners."""
