"""What the organiser prepares before an event and takes away after it."""
