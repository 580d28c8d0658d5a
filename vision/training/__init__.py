"""How the two networks of the room were made: pictures are drawn, networks trained. Nothing here runs at the table."""
