"""How the networks were made: pictures are drawn, and networks trained on them. Nothing here runs at a table."""
