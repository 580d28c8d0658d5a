"""What the organiser does with deals and tile sets before and after an event."""
