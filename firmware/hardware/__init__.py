"""`homologue table hardware`: what is there, and do the buttons work."""
