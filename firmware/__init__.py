"""Drivers for the devices on the table: hu buttons, lamps and scanners."""
