"""The people at a simulated table: staff who lay trays, players who press, somebody at the keyboard."""
