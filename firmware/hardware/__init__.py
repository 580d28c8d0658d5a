"""`homologue table hardware`: lists what is connected, and tests the buttons."""
